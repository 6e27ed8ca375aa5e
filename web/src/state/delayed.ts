import { useEffect, useState } from "react";

/** A value once it has stopped changing. */
export function useDelayed<T>(value: T, milliseconds = 350): T {
  const [kept, setKept] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setKept(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return kept;
}

/** Runs so many at a time, the others after them. */
export function limited(most: number): <T>(job: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (job) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    running += 1;
    try {
      return await job();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
