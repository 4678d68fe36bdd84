/** What a viewer shows, as plain values, and the same as the fragment of an address. */
import type { HeadName } from './captions';
import { MAP_VALUES, type Asked, type MapValue } from './drawing';
import type { PageHeader, SiteInfo } from './header';
import { CURVES, type Curve } from './scale';

export type ViewName = 'matrix' | 'read' | 'heads';
export const VIEWS: readonly ViewName[] = ['read', 'matrix', 'heads'];
export type Theme = '' | 'light' | 'dark';

export interface State {
  /** Index into the header's sites. */
  site: number;
  head: HeadName;
  view: ViewName;
  /** Who attends to the token, instead of what it attends to. */
  column: boolean;
  /** The pinned position on the rows (on the columns if `column`). */
  token: number | null;
  /** The pinned position on the other axis: with `token` a cell. */
  other: number | null;
  /** Empty: what suits the view. */
  colors: string;
  /** What is drawn; empty: what suits the map. */
  of: MapValue | '';
  /** How it becomes a colour; empty: what suits what is drawn. */
  curve: Curve | '';
  /** Whether colours have the ends that were asked for when the page was written. */
  askedRange: boolean;
  /** Whether colours else end at the largest weight of this map instead of all maps. */
  ownRange: boolean;
  /** Empty: as the system says. */
  theme: Theme;
}

export function startState(header: PageHeader): State {
  const { start } = header;
  const site = header.sites[start.site] as SiteInfo;
  return {
    site: start.site,
    head: start.head || (site.heads[0] as number),
    view: VIEWS.includes(start.view as ViewName) ? (start.view as ViewName) : 'matrix',
    column: start.column,
    token: start.token,
    other: null,
    colors: start.colors in header.colors ? start.colors : '',
    of: MAP_VALUES.find((of) => of === start.of) ?? '',
    curve: CURVES.find((curve) => curve === start.scale) ?? '',
    askedRange: start.range !== undefined,
    ownRange: true,
    theme: '',
  };
}

/** What the state asks to be drawn. */
export function askedOf(state: State, header: PageHeader): Asked {
  return { of: state.of, curve: state.curve, range: (state.askedRange && header.start.range) || null };
}

/** How many positions `token` and `other` may count. */
export function sides(site: SiteInfo, column: boolean): { token: number; other: number } {
  return column ? { token: site.cols, other: site.rows } : { token: site.rows, other: site.cols };
}

/** The state with everything in range that a change of site, head or direction may have put out. */
export function settled(state: State, header: PageHeader): State {
  const site = header.sites[state.site] ?? (header.sites[0] as SiteInfo);
  const count = sides(site, state.column);
  const inside = (index: number | null, size: number) => (index !== null && index >= 0 && index < size ? index : null);
  const known = typeof state.head !== 'number' || site.heads.includes(state.head);
  const token = inside(state.token, count.token);
  return {
    ...state,
    site: header.sites.indexOf(site),
    head: known ? state.head : (site.heads[0] as number),
    token,
    other: token === null ? null : inside(state.other, count.other),
  };
}

/** Row to column and back. Where both count the same positions, the token stays the same. */
export function flipped(state: State, site: SiteInfo): State {
  if (site.rowAxis === site.colAxis) return { ...state, column: !state.column };
  return { ...state, column: !state.column, token: state.other, other: state.other === null ? null : state.token };
}

/** Short keys, what is as at the start left out. */
export function toFragment(state: State, header: PageHeader): string {
  const start = startState(header);
  const parts: string[] = [];
  const put = (key: string, value: string | number, same: boolean) => {
    if (!same) parts.push(`${key}=${encodeURIComponent(String(value))}`);
  };
  put('s', header.sites[state.site]?.site ?? '', state.site === start.site);
  put('h', state.head, state.head === start.head);
  put('v', state.view, state.view === start.view);
  put('c', state.column ? 1 : 0, state.column === start.column);
  put('t', state.token ?? '', state.token === start.token);
  put('o', state.other ?? '', state.other === start.other);
  put('m', state.colors, state.colors === start.colors);
  put('f', state.of, state.of === start.of);
  put('g', state.curve, state.curve === start.curve);
  put('a', state.askedRange ? 1 : 0, state.askedRange === start.askedRange);
  put('u', state.ownRange ? 1 : 0, state.ownRange === start.ownRange);
  put('d', state.theme, state.theme === start.theme);
  return parts.join('&');
}

/** What a fragment says over the start; what makes no sense is passed over. */
export function fromFragment(fragment: string, header: PageHeader): State {
  const state = startState(header);
  const values = new URLSearchParams(fragment.replace(/^#/, ''));
  const number = (key: string, fallback: number | null): number | null => {
    const text = values.get(key);
    if (text === null) return fallback;
    return /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  const oneOf = <T extends string>(key: string, allowed: readonly T[], fallback: T): T => {
    const text = values.get(key) as T | null;
    return text !== null && allowed.includes(text) ? text : fallback;
  };
  const site = header.sites.findIndex((each) => each.site === values.get('s'));
  if (site >= 0) state.site = site;
  const head = values.get('h');
  if (head === 'mean' || head === 'max') state.head = head;
  else if (head !== null && /^\d{1,6}$/.test(head)) state.head = Number(head);
  state.view = oneOf('v', VIEWS, state.view);
  state.column = oneOf('c', ['0', '1'], state.column ? '1' : '0') === '1';
  state.token = number('t', state.token);
  state.other = number('o', state.other);
  state.colors = oneOf('m', ['', ...Object.keys(header.colors)], state.colors);
  state.of = oneOf('f', ['', ...MAP_VALUES], state.of);
  state.curve = oneOf('g', ['', ...CURVES], state.curve);
  state.askedRange = header.start.range !== undefined && oneOf('a', ['0', '1'], state.askedRange ? '1' : '0') === '1';
  state.ownRange = oneOf('u', ['0', '1'], state.ownRange ? '1' : '0') === '1';
  state.theme = oneOf('d', ['', 'light', 'dark'], state.theme);
  return settled(state, header);
}
