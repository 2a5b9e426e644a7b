import { startTransition, useEffect, useState } from "react";

/**
 * Whether a frame was painted since the component came: false at first. What takes long to draw comes behind that, and
 * gives way to what is more urgent, so that whoever pressed something sees at once that it was heard.
 */
export function usePainted(): boolean {
  const [painted, setPainted] = useState(false);
  useEffect(() => {
    let later: ReturnType<typeof setTimeout> | undefined;
    const frame = requestAnimationFrame(() => {
      later = setTimeout(() => startTransition(() => setPainted(true))); // behind the frame
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(later);
    };
  }, []);
  return painted;
}
