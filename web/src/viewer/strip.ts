import type { AxisInfo } from '../core/header';
import { SHORT_MAP } from '../core/drawing';
import { elide, isUpright, labelStep, spread, type Mark } from '../core/labels';
import { make, name } from './dom';

const LINE = 10; // pixels that a line of names needs
export const LEANING_FROM = 14; // pixels of a cell from which names above columns lean
const APART = 15; // pixels between marks
const OPENING_ROOM = 166; // pixels for the first words of a paragraph
const NAMED_STEP = 5; // where fewer positions than every so many have room, marks stand instead

let ruler: CanvasRenderingContext2D | null | undefined;

function widthOf(text: string): number {
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return 7 * text.length;
  ruler.font = '12px system-ui, sans-serif';
  return ruler.measureText(text).width;
}

/** The names beside the rows or above the columns; only visible ones are there. */
export class AxisStrip {
  readonly element: HTMLElement;
  private readonly labels = new Map<number, HTMLElement>();
  private chosen: HTMLElement | null = null;
  private axis: AxisInfo | null = null;
  private painted = '';
  private marks: readonly Mark[] = [];
  private measured: { axis: AxisInfo; most: number; room: number } | null = null;

  // Letters of a name; rows of a text that is being written say what they predict.
  private readonly longest: number;

  constructor(private readonly side: 'rows' | 'columns') {
    this.longest = side === 'rows' ? 36 : 18;
    this.element = make('div', { class: `strip ${side}` });
  }

  /** How much room the names take, `most` at most. */
  measure(axis: AxisInfo, most: number): number {
    if (this.measured?.axis !== axis || this.measured.most !== most) {
      const widest = axis.labels.reduce((most, label) => Math.max(most, widthOf(elide(label, this.longest))), 0);
      // Names of long axes stand upright, with their numbers.
      const isLong = axis.labels.length > SHORT_MAP;
      const room = this.side === 'rows' ? Math.max(isLong ? OPENING_ROOM : 0, widest + 34) : isLong ? widest + 40 : widest * 0.75 + 16;
      this.measured = { axis, most, room: Math.round(Math.min(most, Math.max(24, room))) };
    }
    return this.measured.room;
  }

  /** `chosen` stands out; the more if `main`. `marks` stand where there is no room for names, the most wanted first. */
  paint(axis: AxisInfo, cell: number, offset: number, length: number, chosen: number | null, main: boolean, marks: readonly Mark[]): void {
    const step = labelStep(cell, LINE);
    const marked = step > NAMED_STEP;
    const first = Math.floor(offset / cell);
    const last = Math.min(axis.labels.length, Math.ceil((offset + length) / cell));
    const special = new Set(axis.special);
    const place = [axis.name, axis.labels.length, cell, offset, length].join(' ');
    if (this.painted !== place || this.axis !== axis || (marked && this.marks !== marks)) {
      this.painted = place;
      this.axis = axis;
      this.marks = marks;
      this.labels.clear();
      for (const { index, text } of marked ? spread(marks, APART / cell) : []) {
        if (index >= first && index < last) this.labels.set(index, this.label(axis, index, cell, offset, text === '' || this.side === 'columns', special, text));
      }
      for (let index = Math.ceil(first / step) * step; index < last && !marked; index += step) {
        this.labels.set(index, this.label(axis, index, cell, offset, step > 1, special));
      }
      this.element.replaceChildren(...this.labels.values());
      this.chosen = null;
    }
    // Names that the chosen one would cover give way.
    const crowded = step > 1 || cell < LINE;
    for (const [index, label] of this.labels) {
      const near = chosen !== null && (index === chosen || (crowded && Math.abs(index - chosen) * cell < LINE + 2));
      if (label.hidden !== near) label.hidden = near;
    }
    this.chosen?.remove();
    this.chosen = null;
    if (chosen === null || chosen < first || chosen >= last) return;
    this.chosen = this.label(axis, chosen, cell, offset, step > 1, special);
    this.chosen.classList.add('chosen');
    if (main) this.chosen.classList.add('main');
    this.element.append(this.chosen);
  }

  private label(axis: AxisInfo, index: number, cell: number, offset: number, numbered: boolean, special: Set<number>, text = axis.labels[index] as string): HTMLElement {
    const label = make('span', { class: special.has(index) ? 'label special' : 'label', title: `${index} ${axis.names[index] ?? ''}` });
    if (numbered) label.append(make('small', {}, String(index)));
    if (text) label.append(name(elide(text, this.longest)));
    const place = (index + 0.5) * cell - offset;
    label.style.fontSize = `${cell * NAMED_STEP < LINE ? 11 : Math.max(9, Math.min(12, cell - 1))}px`;
    if (this.side === 'rows') label.style.top = `${place}px`;
    else {
      label.style.left = `${place}px`;
      label.classList.add(cell < LEANING_FROM || isUpright(text) ? 'upright' : 'leaning');
    }
    return label;
  }
}
