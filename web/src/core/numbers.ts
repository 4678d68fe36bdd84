/** Numbers as the page writes them: tabular, with a real minus, the leading zero gone in running text. */

/** "0.767"; below the last decimal "< 0.001". */
export function weightText(value: number, digits = 3): string {
  if (Number.isNaN(value)) return '';
  if (value > 0 && value < 0.5 * 10 ** -digits) return `< ${(10 ** -digits).toFixed(digits)}`;
  return value.toFixed(digits).replace('-', '\u2212');
}

/** ".77", "1" for 0.995 and more, nothing below 0.005. */
export function cellText(value: number): string {
  if (!(value >= 0.005)) return '';
  return value >= 0.995 ? value.toFixed(0) : value.toFixed(2).slice(1);
}

/** "×162", "×6.5", "÷3.1", "×1,025". */
export function timesText(times: number): string {
  if (Number.isNaN(times)) return '';
  if (times === 0) return '0';
  const up = times >= 1;
  const size = up ? times : 1 / times;
  if (size > 1e6) return up ? '×1,000,000 or more' : '< ÷1,000,000';
  return `${up ? '×' : '÷'}${size >= 9.95 ? countText(Math.round(size)) : size.toFixed(1)}`;
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** "43 %", "0.7 %". */
export function percentText(share: number): string {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  return `${percent.toFixed(percent < 0.95 && percent > 0 ? 1 : 0)} %`;
}

export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = bytes;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${units[unit]}`;
}

export function secondsText(seconds: number): string {
  if (seconds < 1) return '1 s';
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}
