/** Names on axes: which are shown, how they stand, how long ones are cut. */

const UPRIGHT = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{P}\s‿·]+$/u;

/** Scripts that are set upright one below the other. */
export function isUpright(label: string): boolean {
  return UPRIGHT.test(label) && /[\p{L}]/u.test(label);
}

/** Every how many positions a label fits, where each needs `room` and a cell has `cell` pixels. */
export function labelStep(cell: number, room: number): number {
  if (cell >= room) return 1;
  const least = Math.ceil(room / cell);
  for (const step of [2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000]) if (step >= least) return step;
  return Math.ceil(least / 1000) * 1000;
}

/** At most `count` characters as readers count them, then an ellipsis. */
export function elide(label: string, count: number): string {
  if (label.length <= count) return label;
  const parts = [...new Intl.Segmenter().segment(label)];
  if (parts.length <= count) return label;
  return parts.slice(0, count - 1).map((part) => part.segment).join('') + '…';
}

/** Whether the first strong letter is of a script that runs from right to left. */
export function isRightToLeft(text: string): boolean {
  const letter = /\p{L}/u.exec(text);
  return letter !== null && /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(letter[0]);
}
