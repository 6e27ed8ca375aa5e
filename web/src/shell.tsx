/** What stands around every view: navigation, light or dark, news, and what to do without a token. */
import { Component, Suspense, useEffect, useState, type ReactNode } from "react";
import { strangers, token } from "./api/client";
import { IconButton } from "./parts/controls";
import { Icon, type IconName } from "./parts/icons";
import { Empty, Failure, Loading } from "./parts/surfaces";
import { Toasts } from "./parts/toasts";
import { usePlace } from "./route";
import { chooseTheme, chosenTheme, type Theme } from "./theme";
import { places } from "./views";

const NEXT: Record<Theme, { theme: Theme; icon: IconName; label: string }> = {
  system: { theme: "light", icon: "system", label: "Colours as the system; switch to light" },
  light: { theme: "dark", icon: "sun", label: "Light colours; switch to dark" },
  dark: { theme: "system", icon: "moon", label: "Dark colours; switch to the system's" },
};

export function Shell() {
  const { view } = usePlace();
  const [stranger, setStranger] = useState(!token());
  useEffect(() => {
    const tell = () => setStranger(true);
    strangers.add(tell);
    return () => void strangers.delete(tell);
  }, []);
  const place = places.find((each) => each.id === view) ?? places[0]!;
  useEffect(() => {
    document.title = `${place.title} · Compact`;
  }, [place]);
  return (
    <div className="shell">
      <a className="skip" href="#stage" onClick={skip}>
        Skip to the content
      </a>
      <Rail current={place.id} />
      <main className="stage" id="stage" tabIndex={-1}>
        {stranger ? (
          <Locked />
        ) : (
          <Fence place={place.id}>
            <Suspense key={place.id} fallback={<div className="view"><Loading lines={8} /></div>}>
              <place.view />
            </Suspense>
          </Fence>
        )}
      </main>
      <Toasts />
    </div>
  );
}

function skip(event: { preventDefault: () => void }) {
  event.preventDefault();
  document.getElementById("stage")?.focus();
}

function Rail({ current }: { current: string }) {
  const [theme, setTheme] = useState(chosenTheme);
  const next = NEXT[theme];
  return (
    <div className="rail">
      <div className="brand">
        <img src="/icon.svg" width={22} height={22} alt="" />
        Compact
      </div>
      <nav aria-label="Views">
        <ul>
          {places.map((each) => (
            <li key={each.id}>
              <a href={`#/${each.id}`} aria-current={each.id === current ? "page" : undefined}>
                <Icon name={each.icon} />
                {each.title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div className="foot">
        <IconButton
          icon={next.icon}
          label={next.label}
          onPress={() => {
            chooseTheme(next.theme);
            setTheme(next.theme);
          }}
        />
      </div>
    </div>
  );
}

function Locked() {
  return (
    <Empty icon="key" title="This page needs the server's token">
      <p>
        <code>compact serve</code> prints an address that ends in <code>#token=…</code>. Open that one: this tab then keeps
        the token until it is closed.
      </p>
    </Empty>
  );
}

interface FenceProps {
  place?: string;
  children: ReactNode;
}

/**
 * Keeps a fault in one view from taking the others with it.
 *
 * It outlives the view, so that a fault while the view is left stays inside as well; another place is another try.
 */
export class Fence extends Component<FenceProps, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidUpdate(before: FenceProps) {
    if (before.place !== this.props.place && this.state.error !== null) this.setState({ error: null });
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return <Failure error={this.state.error} retry={() => this.setState({ error: null })} />;
  }
}
