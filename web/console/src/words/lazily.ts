import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import { ready } from "./load";

/** A component that is loaded when it is first shown, with its words; in place of React's lazy, which knows of none. */
export function lazily<P>(load: () => Promise<{ default: ComponentType<P> }>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => {
    const module = await load();
    await ready();
    return module;
  });
}
