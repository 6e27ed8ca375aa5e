import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// No inline scripts, styles or data URLs: the server's Content-Security-Policy forbids them.
export default defineConfig({
  plugins: [react()],
  base: "/",
  build: {
    outDir: "../src/compact/server/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: { proxy: { "/api": "http://127.0.0.1:8787" } },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
