/** What the page shows, as plain values, and the same as the fragment of its address. What is as at the start is left out. */
import type { HeadName } from './captions';
import { CURVES, type Curve } from './scale';

export const PAGES = ['home', 'text', 'map'] as const;
export type PageName = (typeof PAGES)[number];
export const TEXT_VIEWS = ['read', 'lines', 'matrix', 'arcs', 'steps'] as const;
export type TextView = (typeof TEXT_VIEWS)[number];
export const VALUES = ['weight', 'times-even', 'score', 'value-weighted'] as const;
export type ValueName = (typeof VALUES)[number];

export interface Place {
  page: PageName;
  view: TextView;
  /** The run's hash; empty: none. */
  run: string;
  site: string;
  layer: number;
  head: HeadName;
  column: boolean;
  /** The pinned row and column; on a column the column is the one that counts. */
  row: number | null;
  col: number | null;
  /** Empty: what suits the map. */
  of: ValueName | '';
  curve: Curve | '';
  colors: string;
  pool: 'mean' | 'max';
  hideSinks: boolean;
  words: boolean;
  /** Further pins, whose weights are summed. */
  more: number[];
  /** Heads whose lines are drawn; empty: the chosen one. */
  heads: number[];
  /** Of each row, the largest weights until so much is shown. */
  mass: number;
  /** Where a long map is looked at: level, device pixels of a bin, first row, first column; null: all of it. */
  zoom: { level: number; cell: number; row: number; col: number } | null;
  theme: '' | 'light' | 'dark';
}

export const START: Place = {
  page: 'home', view: 'read', run: '', site: 'self', layer: 0, head: 0, column: false, row: null, col: null, of: '', curve: '',
  colors: '', pool: 'mean', hideSinks: false, words: true, more: [], heads: [], mass: 0.9, zoom: null, theme: '',
};

interface Field<K extends keyof Place> {
  write(value: Place[K]): string;
  /** undefined: makes no sense. */
  read(text: string): Place[K] | undefined;
}

const oneOf = <T extends string>(allowed: readonly T[]) => ({
  write: (value: T) => value as string,
  read: (text: string) => allowed.find((each) => each === text),
});
const flag = { write: (value: boolean) => (value ? '1' : '0'), read: (text: string) => (text === '1' ? true : text === '0' ? false : undefined) };
const wholeOf = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);
const maybe = { write: (value: number | null) => String(value ?? ''), read: (text: string) => (text === '' ? null : wholeOf(text)) };
const several = {
  write: (value: number[]) => value.join('.'),
  read: (text: string) => (text === '' ? [] : /^\d{1,9}(\.\d{1,9}){0,63}$/.test(text) ? text.split('.').map(Number) : undefined),
};
const name = (pattern: RegExp) => ({ write: (value: string) => value, read: (text: string) => (pattern.test(text) ? text : undefined) });

const FIELDS: { [K in keyof Place]: [string, Field<K>] } = {
  page: ['p', oneOf(PAGES)],
  view: ['v', oneOf(TEXT_VIEWS)],
  run: ['r', name(/^[0-9a-zA-Z_.-]{0,80}$/)],
  site: ['s', name(/^[a-z_.0-9]{1,40}$/)],
  layer: ['l', { write: String, read: wholeOf }],
  head: ['h', { write: String, read: (text) => (text === 'mean' || text === 'max' ? text : wholeOf(text)) }],
  column: ['c', flag],
  row: ['i', maybe],
  col: ['j', maybe],
  of: ['f', oneOf(['', ...VALUES])],
  curve: ['g', oneOf(['', ...CURVES])],
  colors: ['m', name(/^[a-zA-Z]{0,20}$/)],
  pool: ['k', oneOf(['mean', 'max'] as const)],
  hideSinks: ['n', flag],
  words: ['w', flag],
  more: ['o', several],
  heads: ['e', several],
  mass: ['a', {
    write: (value) => String(Math.round(value * 100)),
    read: (text) => (/^\d{1,3}$/.test(text) && Number(text) >= 1 && Number(text) <= 100 ? Number(text) / 100 : undefined),
  }],
  zoom: ['z', {
    write: (value) => (value ? `${value.level}.${value.cell}.${value.row}.${value.col}` : ''),
    read: (text) => {
      if (text === '') return null;
      const parts = /^(\d{1,2})\.(\d{1,3})\.(\d{1,9})\.(\d{1,9})$/.exec(text)?.slice(1).map(Number);
      if (!parts || (parts[0] as number) > 30 || parts[1] === 0) return undefined;
      const [level, cell, row, col] = parts as [number, number, number, number];
      return { level, cell, row, col };
    },
  }],
  theme: ['d', oneOf(['', 'light', 'dark'] as const)],
};

const KEYS = Object.keys(FIELDS) as (keyof Place)[];

export function toAddress(place: Place): string {
  const parts: string[] = [];
  for (const key of KEYS) {
    const [short, field] = FIELDS[key] as [string, Field<typeof key>];
    const text = field.write(place[key] as never);
    if (text !== field.write(START[key] as never)) parts.push(`${short}=${encodeURIComponent(text)}`);
  }
  return parts.join('&');
}

/** What makes no sense is as at the start. */
export function fromAddress(fragment: string): Place {
  const values = new URLSearchParams(fragment.replace(/^#/, ''));
  const place: Place = { ...START };
  for (const key of KEYS) {
    const [short, field] = FIELDS[key] as [string, Field<typeof key>];
    const text = values.get(short);
    const value = text === null ? undefined : field.read(text);
    if (value !== undefined) (place as unknown as Record<string, unknown>)[key] = value;
  }
  return place;
}

/** Moving about replaces the entry of the browser's history; anything else makes a new one, so that Back undoes it. */
export function isMove(before: Place, after: Place): boolean {
  return KEYS.every((key) => key === 'zoom' || JSON.stringify(before[key]) === JSON.stringify(after[key]));
}
