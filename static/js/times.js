// Updates "6 minutes ago" and elapsed times on open pages, and turns spinners once a second. A CSS animation would use
// far more processor time, which a local model needs.

const past = new Intl.RelativeTimeFormat(document.documentElement.lang || "en");
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const isStill = matchMedia("(prefers-reduced-motion: reduce)");

function say({ dateTime, dataset }) {
  const seconds = Math.floor((Date.now() - Date.parse(dateTime)) / 1000);
  const unit = UNITS.find(([, length]) => seconds >= length);
  if ("since" in dataset) return unit ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${Math.max(0, seconds)} s`;
  // Older times are shown as a date, and newer times as "just now".
  return unit && seconds < 60 * 86400 ? past.format(-Math.round(seconds / unit[1]), unit[0]) : "";
}

setInterval(() => {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[data-ago], time[data-since]")) {
    const text = say(time);
    if (text && text !== time.textContent) time.textContent = text;
  }
  if (isStill.matches) return;
  const turn = `${Math.floor(Date.now() / 1000) % 8 * 45}deg`;
  for (const icon of document.querySelectorAll(".icon-spinner")) icon.style.rotate = turn;
}, 1000);
