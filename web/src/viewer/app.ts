import { decimalsOf, isolated, matrixCaption, placeText, tokenCaption, tokenText, type HeadName } from '../core/captions';
import { fromBase64, lineOf, type DecodedMap } from '../core/codec';
import { buildColorTable, type Curve } from '../core/colors';
import { gridOf, largestOn, massBeside } from '../core/grid';
import type { AxisInfo, MaskInfo, PageHeader, SiteInfo } from '../core/header';
import { flipped, fromFragment, settled, toFragment, VIEWS, type State, type Theme, type ViewName } from '../core/state';
import { Controls } from './controls';
import { make } from './dom';
import { HeadsView } from './heads';
import { makeHelp } from './help';
import { Inspector, spoken } from './inspector';
import { commandOf, type Command } from './keyboard';
import { Maps } from './maps';
import { MatrixView } from './matrix';
import { PictureView } from './picture';
import { ReadView } from './read';
import { axesOf, pictureAxis, type Actions, type Focus, type Scene, type View } from './scene';

const HOVER_GRACE_MS = 150;
const SPEAK_AFTER_MS = 250;
const FAR = 10;

/** The viewer: one state, drawn anew whenever it changes. */
export class App implements Actions {
  readonly maps: Maps;
  state: State;
  private hovered: { token: number; other: number | null } | null = null;
  private hoverTimer = 0;
  private speakTimer = 0;
  private shortcuts = true;
  private scene: Scene | null = null;
  private readonly tables = new Map<string, Uint8Array>();
  private lastTable: { colors: Uint8Array; levels: number; high: number; curve: Curve; table: Uint32Array } | null = null;
  private readonly views: Record<ViewName, View>;
  private readonly pictureView: View;
  private picture: ImageBitmap | null = null;
  private readonly inspector: Inspector;
  private readonly controls: Controls;
  private readonly caption = make('p', { class: 'caption', id: 'fovea-caption' });
  private readonly stage = make('main', { class: 'stage' });
  private readonly live = make('div', { class: 'spoken', role: 'status', 'aria-live': 'polite' });
  private readonly help: HTMLDialogElement;
  private readonly prefersDark = matchMedia('(prefers-color-scheme: dark)');

  constructor(
    private readonly root: HTMLElement,
    readonly header: PageHeader,
  ) {
    this.maps = new Maps(header);
    this.state = fromFragment(location.hash, header);
    this.views = { matrix: new MatrixView(this), read: new ReadView(this), heads: new HeadsView(this, false) };
    this.pictureView = new PictureView(this);
    this.inspector = new Inspector(this);
    const step = 1 / Math.max(...header.sites.map((site) => site.levels));
    const accuracy = `Weights are kept in steps of ${step.toPrecision(1)}, so a value is within ${(step / 2).toPrecision(1)} of the exact one; below ${(10 ** -decimalsOf(1 / step)).toFixed(decimalsOf(1 / step))} only "<" is said. Sums are exact.`;
    this.help = makeHelp(accuracy, (on) => (this.shortcuts = on));
    this.controls = new Controls(header, {
      change: (patch) => this.set(patch),
      run: (command) => this.run(command),
    });
    this.build();
    this.listen();
    void this.start();
  }

  private async start(): Promise<void> {
    if (this.header.picture) this.picture = await this.maps.picture();
    await this.draw();
  }

  /** A text is read, a picture looked at. */
  private viewOf(scene: Scene | null): View {
    const { view } = this.state;
    return view === 'read' && scene && pictureAxis(scene) ? this.pictureView : this.views[view];
  }

  /** Changes the state. Pins, views and maps are steps that Back undoes. */
  set(patch: Partial<State>): void {
    this.state = settled({ ...this.state, ...patch }, this.header);
    this.hovered = null;
    this.remember();
    void this.draw();
  }

  hover(focus: { token: number; other: number | null } | null): void {
    clearTimeout(this.hoverTimer);
    if (focus) this.look(focus);
    else this.hoverTimer = window.setTimeout(() => this.look(null), HOVER_GRACE_MS);
  }

  pin(token: number, other: number | null): void {
    clearTimeout(this.hoverTimer);
    const same = this.state.token === token && this.state.other === other;
    this.set(same ? {} : { token, other });
  }

  choose(site: number, head: number): void {
    this.set({ site, head });
  }

  open(site: number, head: number): void {
    this.set({ site, head, view: 'matrix' });
  }

  /** Does what a key would do. */
  run(command: Command): void {
    const { state, header } = this;
    const site = header.sites[state.site] as SiteInfo;
    const view = this.viewOf(this.scene);
    switch (command) {
      case 'layer-before': return this.stepLayer(-1);
      case 'layer-after': return this.stepLayer(1);
      case 'head-before': return this.stepHead(-1);
      case 'head-after': return this.stepHead(1);
      case 'head-mean': return this.set({ head: state.head === 'mean' ? (site.heads[0] as number) : 'mean' });
      case 'head-max': return this.set({ head: state.head === 'max' ? (site.heads[0] as number) : 'max' });
      case 'flip': return this.flip();
      case 'unpin': return this.help.open ? this.help.close() : this.set({ token: null, other: null });
      case 'next-view': return this.show(VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length] as ViewName);
      case 'view-read': return this.show('read');
      case 'view-matrix': return this.show('matrix');
      case 'view-heads': return this.show('heads');
      case 'larger': return view.zoom?.(1);
      case 'smaller': return view.zoom?.(-1);
      case 'fit': return view.zoom?.(0);
      case 'next-colors': return this.nextColors();
      case 'range': return this.set({ ownRange: !state.ownRange });
      case 'curve': return this.set({ curve: state.curve === 'linear' ? 'root' : 'linear' });
      case 'theme': return this.set({ theme: nextTheme(state.theme) });
      case 'help': return this.help.open ? this.help.close() : this.help.showModal();
      default: return this.arrow(command);
    }
  }

  private arrow(command: Command): void {
    const by = command.startsWith('far-') ? FAR : 1;
    const way = command.replace('far-', '');
    const dx = way === 'left' ? -by : way === 'right' ? by : 0;
    const dy = way === 'up' ? -by : way === 'down' ? by : 0;
    if (this.scene) this.viewOf(this.scene).arrow(this.scene, dx, dy);
  }

  private flip(): void {
    const site = this.header.sites[this.state.site] as SiteInfo;
    // A word that is only looked at is flipped too.
    const { focus } = this.scene ?? { focus: null };
    const pinned = focus && !focus.suggested ? { token: focus.token, other: focus.other } : {};
    this.set(flipped({ ...this.state, ...pinned }, site));
  }

  private show(view: ViewName): void {
    this.set({ view });
  }

  private stepLayer(by: number): void {
    const now = this.header.sites[this.state.site] as SiteInfo;
    const next = this.header.sites[this.state.site + by];
    if (next?.kind === now.kind) this.set({ site: this.state.site + by });
  }

  private stepHead(by: number): void {
    const { heads } = this.header.sites[this.state.site] as SiteInfo;
    const names: HeadName[] = heads.length > 1 ? [...heads, 'mean', 'max'] : heads;
    const next = names[names.indexOf(this.state.head) + by];
    if (next !== undefined) this.set({ head: next });
  }

  private nextColors(): void {
    const names = ['', ...Object.keys(this.header.colors)];
    this.set({ colors: names[(names.indexOf(this.state.colors) + 1) % names.length] as string });
  }

  private look(focus: { token: number; other: number | null } | null): void {
    if (focus?.token === this.hovered?.token && focus?.other === this.hovered?.other) return;
    this.hovered = focus;
    void this.draw();
  }

  private build(): void {
    const top = make('header', {}, make('h1', {}, this.header.title), this.controls.views, this.controls.tools);
    const footer = make('footer', {}, `${this.header.program} · nothing leaves this page`);
    const body = make('div', { class: 'body' }, this.stage, this.inspector.element);
    this.root.replaceChildren(top, this.controls.bar, this.caption, body, footer, this.live, this.help);
  }

  private listen(): void {
    document.addEventListener('keydown', (event) => {
      const target = event.target as HTMLElement;
      if (target.closest('select, input, textarea, dialog')) return;
      const command = commandOf(event);
      const single = event.key.length === 1;
      if (!command || (single && !this.shortcuts)) return;
      event.preventDefault();
      this.run(command);
    });
    window.addEventListener('popstate', () => {
      this.state = fromFragment(location.hash, this.header);
      this.hovered = null;
      void this.draw();
    });
    this.prefersDark.addEventListener('change', () => void this.draw());
  }

  private remember(): void {
    const fragment = toFragment(this.state, this.header);
    const address = fragment ? `#${fragment}` : location.pathname + location.search;
    if (`#${fragment}` === (location.hash || '#')) return;
    try {
      history.pushState(null, '', address);
    } catch {
      location.hash = fragment; // some browsers allow files no more than that
    }
  }

  private async draw(): Promise<void> {
    const { state } = this;
    try {
      const map = await this.maps.get(state.site, state.head);
      if (state !== this.state) return; // a later change is drawn instead
      this.paint(map);
    } catch (error) {
      this.caption.textContent = error instanceof Error ? error.message : String(error);
      this.caption.classList.add('failed');
    }
  }

  private paint(map: DecodedMap): void {
    const { state } = this;
    const dark = state.theme ? state.theme === 'dark' : this.prefersDark.matches;
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
    const scene = this.makeScene(map, dark);
    this.scene = scene;
    this.caption.classList.remove('failed');
    this.caption.textContent = captionOf(scene);
    const view = this.viewOf(scene);
    if (this.stage.firstChild !== view.element) {
      const focused = this.stage.contains(document.activeElement);
      this.stage.replaceChildren(view.element);
      if (focused) view.element.focus();
    }
    this.root.dataset['view'] = state.view;
    this.controls.update(scene);
    this.inspector.update(scene);
    view.update(scene);
    clearTimeout(this.speakTimer);
    this.speakTimer = window.setTimeout(() => (this.live.textContent = spoken(scene)), SPEAK_AFTER_MS);
  }

  private makeScene(map: DecodedMap, dark: boolean): Scene {
    const { state, header } = this;
    const site = header.sites[state.site] as SiteInfo;
    const rowAxis = header.axes[site.rowAxis] as AxisInfo;
    const colAxis = header.axes[site.colAxis] as AxisInfo;
    const looked = state.view === 'read' ? pictureAxis({ header, rowAxis, colAxis }) : null;
    // Text is read on the page's own ground, so low must look like it.
    const suiting = state.view === 'read' && !looked && !dark ? 'paper' : 'inferno';
    const colorName = state.colors || suiting;
    let colors = this.tables.get(colorName);
    if (!colors) this.tables.set(colorName, (colors = fromBase64(header.colors[colorName] ?? '')));
    const all = header.sites.filter((each) => each.kind === site.kind).flatMap((each) => each.largest);
    const shared = Math.max(...all) || 1;
    const scene: Scene = {
      header, maps: this.maps, state, site, map, dark, colors, shared, rowAxis, colAxis,
      picture: this.picture,
      mask: header.masks[site.mask] as MaskInfo,
      focus: null,
      high: shared,
      own: 'this map',
      table: new Uint32Array(),
    };
    scene.focus = this.focusOf(scene, looked);
    // Small multiples are compared, so they share their colours.
    if (state.ownRange && state.view !== 'heads') this.useOwnRange(scene, looked);
    scene.table = this.tableOf(colors, map.levels, scene.high, state.curve);
    return scene;
  }

  /** Colours up to the largest weight of the map; over a picture to that of the line, which is all one sees of it. */
  private useOwnRange(scene: Scene, looked: AxisInfo | null): void {
    const { state, map, focus } = scene;
    const grid = looked && gridOf(looked);
    const shaded = state.column ? scene.rowAxis : scene.colAxis;
    scene.high = map.largest || 1;
    if (!grid || !focus || shaded !== looked) return;
    scene.high = largestOn(grid, lineOf(map, focus.token, state.column)) || 1;
    scene.own = state.column ? 'this column on the picture' : 'this row on the picture';
  }

  /** Kept as long as nothing of it changes: views draw anew only with another table. */
  private tableOf(colors: Uint8Array, levels: number, high: number, curve: Curve): Uint32Array {
    const last = this.lastTable;
    if (last && last.colors === colors && last.levels === levels && last.high === high && last.curve === curve) return last.table;
    this.lastTable = { colors, levels, high, curve, table: buildColorTable(colors, levels, high, curve) };
    return this.lastTable.table;
  }

  private focusOf(scene: Scene, looked: AxisInfo | null): Focus | null {
    const { token, other } = this.state;
    if (this.hovered) return { ...this.hovered, suggested: false };
    if (token !== null) return { token, other, suggested: false };
    if (this.state.view !== 'read') return null;
    const axis = axesOf(scene).token;
    if (looked) return { token: firstOf(axis), other: null, suggested: true };
    // The last word of the input: it sees all others, in causal models too.
    const special = new Set(axis.special);
    let last = axis.labels.length - 1;
    while (last > 0 && special.has(last)) --last;
    return { token: last, other: null, suggested: true };
  }
}

/** What a picture is first looked at from: the token in front of it, or its middle. */
function firstOf(axis: AxisInfo): number {
  const grid = gridOf(axis);
  if (!grid || grid.begin > 0) return 0;
  return Math.floor(grid.rows / 2) * grid.cols + Math.floor(grid.cols / 2);
}

function nextTheme(theme: Theme): Theme {
  return theme === '' ? 'light' : theme === 'light' ? 'dark' : '';
}

/** Never hidden: row or column, layer, head, what the numbers are and their sum. */
function captionOf(scene: Scene): string {
  const { state, site, map, focus } = scene;
  const place = placeText(site.layer, state.head, site.heads.length);
  if (!focus) return matrixCaption(place, map.rowSums);
  const label = isolated(axesOf(scene).token.names[focus.token] ?? '');
  const sums = state.column ? map.colSums : map.rowSums;
  const caption = tokenCaption(tokenText(label, focus.token, state.column), place, sums[focus.token] ?? 0);
  const { other } = axesOf(scene);
  const grid = scene.header.picture ? gridOf(other) : null;
  if (!grid || grid.begin === 0) return caption;
  const beside = massBeside(grid, lineOf(map, focus.token, state.column));
  return `${caption}, of which ${Math.max(0, (sums[focus.token] ?? 0) - beside).toFixed(2)} on ${other.name}`;
}
