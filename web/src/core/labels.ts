/** Names on axes: which are shown, how they stand, how long ones are cut. */
import type { AxisInfo } from './header';
import { largest } from './ranking';

/** A place beside an axis and what stands there; an empty text: its number alone. */
export interface Mark {
  index: number;
  text: string;
}

const OPENING = 22; // letters of a paragraph's first words
const RECEIVERS = 8;
const NUMBERS = 9;

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

/** The first words of every paragraph, which follows an empty line. */
export function paragraphs({ read }: Pick<AxisInfo, 'read'>): Mark[] {
  const marks: Mark[] = [];
  let lines = 2; // since the last word
  read.forEach(([gap, own, kind], index) => {
    lines += gap.split('\n').length - 1;
    if (kind !== 0 || own.trim() === '') return;
    if (lines >= 2) marks.push({ index, text: openingAt(read, index) });
    lines = own.split('\n').length - 1;
  });
  return marks;
}

function openingAt(read: AxisInfo['read'], index: number): string {
  let text = '';
  for (let i = index; i < read.length && text.length <= OPENING; ++i) {
    const [gap, own, kind] = read[i] as AxisInfo['read'][number];
    text += (i > index ? gap : '') + (kind === 0 ? own : '');
    text = text.replace(/\s+/g, ' ');
  }
  return elide(text.trim(), OPENING);
}

/** The columns that receive most of all weight, and round numbers. */
export function receivers(colSums: ArrayLike<number>, rows: number, labels: readonly string[]): Mark[] {
  const least = rows * Math.max(0.002, 4 / colSums.length);
  const most = largest(colSums, RECEIVERS).filter(({ weight }) => weight >= least);
  return [...most.map(({ index }) => ({ index, text: labels[index] ?? '' })), ...roundNumbers(colSums.length)];
}

/** At most so many numbers along an axis. */
export function roundNumbers(count: number): Mark[] {
  const step = labelStep(1, count / NUMBERS);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => ({ index: i * step, text: '' }));
}

/** Those that are at least `apart` from the ones before them in the list, rising. */
export function spread(marks: readonly Mark[], apart: number): Mark[] {
  const kept: Mark[] = [];
  for (const mark of marks) if (kept.every(({ index }) => Math.abs(index - mark.index) >= apart)) kept.push(mark);
  return kept.sort((a, b) => a.index - b.index);
}
