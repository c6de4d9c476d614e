// Signs of life: while somebody is at work on a pair, its seat is held.
const task = () => document.getElementById("task");

// Asked again this much later when the network failed; the submit itself would tell.
const RETRY_MS = 15_000;

let seat;
let renewedAt = 0;
let held = true;

const startOver = () => {
  // Loading the pair has renewed its lease. Only differences count: clocks may be wrong.
  renewedAt = performance.now();
  if (seat === task()?.dataset.seat) return;
  seat = task()?.dataset.seat;
  held = true;
};

const renew = async () => {
  const asked = seat;
  const { renew: address, leaseSeconds } = task().dataset;
  const quarter = (1000 * Number(leaseSeconds)) / 4;
  renewedAt = performance.now();
  try {
    const token = task().querySelector('input[name="csrfmiddlewaretoken"]').value;
    const cookie = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
    const response = await fetch(address, {
      method: "POST",
      headers: { "X-CSRFToken": cookie ? cookie[1] : token },
      redirect: "manual",
    });
    if (asked !== seat) return;
    if (response.status === 409) {
      held = false;
      document.dispatchEvent(new CustomEvent("lapsed"));
    } else if (response.type === "opaqueredirect") {
      held = false;
      document.dispatchEvent(new CustomEvent("signed-out"));
    } else if (!response.ok) {
      renewedAt += RETRY_MS - quarter;
    }
  } catch {
    renewedAt += RETRY_MS - quarter;
  }
};

const active = () => {
  if (!held || !seat || document.visibilityState !== "visible") return;
  const quarter = (1000 * Number(task().dataset.leaseSeconds)) / 4;
  if (performance.now() - renewedAt >= quarter) renew();
};

for (const kind of ["pointerdown", "pointermove", "keydown", "wheel", "scroll", "touchmove"]) {
  // Capturing, since the scrolling of a pane does not bubble.
  document.addEventListener(kind, active, { capture: true, passive: true });
}

document.addEventListener("htmx:afterSwap", startOver);
startOver();
