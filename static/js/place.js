// Where one is in a pair.
import { task } from "./page.js";

// The place from which one goes on: the question of the pair, or what stands instead of it.
export const goTo = (target) => {
  const place = target ?? task()?.querySelector("#explained, #query, #finished");
  place?.focus({ preventScroll: true });
};
