import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError, takeToken } from "./api/client";
import { Fence, Shell } from "./shell";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";

takeToken();
// One that is pasted into an open tab: all that was refused without it is asked anew.
window.addEventListener("hashchange", () => {
  if (takeToken()) location.reload();
});

const client = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      staleTime: 30_000,
      // What the server understood and refused, it refuses again.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status >= 400),
    },
  },
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Fence>
        <Shell />
      </Fence>
    </QueryClientProvider>
  </StrictMode>,
);
