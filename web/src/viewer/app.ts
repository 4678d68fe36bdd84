import { decimalsOf, isolated, matrixCaption, placeText, tokenCaption, tokenText, valueCaption, type HeadName } from '../core/captions';
import { fromBase64, lineOf, type DecodedMap } from '../core/codec';
import { colorsNote, drawingOf, figureBlock, meaningOf, pictureDrawing, scaleOf, type MapDrawing } from '../core/drawing';
import { gridOf, massBeside } from '../core/grid';
import type { AxisInfo, MaskInfo, PageHeader, SiteInfo } from '../core/header';
import { CURVES, type ColorScale, type Curve } from '../core/scale';
import { askedOf, flipped, fromFragment, settled, startState, toFragment, VIEWS, type State, type Theme, type ViewName } from '../core/state';
import { overGround } from '../core/tone';
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
import { axesOf, pictureAxis, valuesOf, type Actions, type Ends, type Focus, type Scene, type View } from './scene';

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
  private readonly headsScales = new Map<string, ColorScale>();
  private captionRoom = '';
  private lastScale: { map: DecodedMap; key: string; scale: ColorScale } | null = null;
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
    const wishes = { change: (patch: Partial<State>) => this.set(patch), run: (command: Command) => this.run(command) };
    this.inspector = new Inspector(this, wishes);
    const step = 1 / Math.max(...header.sites.map((site) => site.levels));
    const accuracy = `Weights are kept in steps of ${step.toPrecision(1)}, so a value is within ${(step / 2).toPrecision(1)} of the exact one; below ${(10 ** -decimalsOf(1 / step)).toFixed(decimalsOf(1 / step))} only "<" is said. Sums are exact.`;
    this.help = makeHelp(accuracy, (on) => (this.shortcuts = on));
    this.controls = new Controls(header, wishes);
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

  refresh(): void {
    void this.draw();
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
      case 'of': return this.set({ of: this.drawingNow().of === 'weight' ? 'times-even' : 'weight', curve: '', askedRange: false });
      case 'curve': return this.set({ curve: CURVES[(CURVES.indexOf(this.drawingNow().curve) + 1) % CURVES.length] as Curve });
      case 'range': return this.nextRange();
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

  private drawingNow(asked: State = this.state): MapDrawing {
    const site = this.header.sites[this.state.site] as SiteInfo;
    const read = this.state.view === 'read';
    const [rowAxis, colAxis] = [this.header.axes[site.rowAxis] as AxisInfo, this.header.axes[site.colAxis] as AxisInfo];
    if (read && pictureAxis({ header: this.header, rowAxis, colAxis })) return pictureDrawing(askedOf(asked, this.header));
    return drawingOf(askedOf(asked, this.header), read ? 1 : Math.max(site.rows, site.cols));
  }

  /** As asked, this map, all maps; what changes nothing is passed over. */
  private nextRange(): void {
    const { askedRange, ownRange } = this.state;
    const { of, curve } = this.drawingNow();
    const start = startState(this.header); // a range is of what it was asked with
    const choices = of === 'weight' && curve !== 'log';
    if (askedRange) this.set({ askedRange: false, ownRange: true });
    else if (choices && ownRange) this.set({ ownRange: false });
    else if (start.askedRange && of === this.drawingNow(start).of) this.set({ askedRange: true });
    else if (choices) this.set({ ownRange: true });
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
    const view = this.viewOf(scene);
    if (this.stage.firstChild !== view.element) {
      const focused = this.stage.contains(document.activeElement);
      this.stage.replaceChildren(view.element);
      if (focused) view.element.focus();
    }
    this.root.dataset['view'] = state.view;
    view.update(scene);
    this.say(scene);
    this.controls.update(scene);
    this.inspector.update(scene);
    clearTimeout(this.speakTimer);
    this.speakTimer = window.setTimeout(() => (this.live.textContent = spoken(scene)), SPEAK_AFTER_MS);
  }

  /** A caption that has fewer lines leaves their room: what is pointed at must not move. */
  private say(scene: Scene): void {
    const { state } = this;
    const room = [state.view, state.site, window.innerWidth].join(' ');
    if (room !== this.captionRoom) this.caption.style.minHeight = '';
    this.captionRoom = room;
    this.caption.classList.remove('failed');
    this.caption.textContent = captionOf(scene);
    this.caption.style.minHeight = `${this.caption.offsetHeight}px`;
  }

  private makeScene(map: DecodedMap, dark: boolean): Scene {
    const { state, header } = this;
    const site = header.sites[state.site] as SiteInfo;
    const rowAxis = header.axes[site.rowAxis] as AxisInfo;
    const colAxis = header.axes[site.colAxis] as AxisInfo;
    const looked = state.view === 'read' ? pictureAxis({ header, rowAxis, colAxis }) : null;
    // Low looks like the page's own ground; that of a picture is dark.
    const suiting = !looked && !dark ? 'paper' : 'inferno';
    const colorName = state.colors || suiting;
    let table = this.tables.get(colorName);
    if (!table) this.tables.set(colorName, (table = fromBase64(header.colors[colorName] ?? '')));
    const colors = looked ? overGround(table) : table;
    const all = header.sites.filter((each) => each.kind === site.kind).flatMap((each) => each.largest);
    const mask = header.masks[site.mask] as MaskInfo;
    const asked = askedOf(state, header);
    const longest = Math.max(site.rows, site.cols);
    const drawing = looked ? pictureDrawing(asked) : drawingOf(asked, state.view === 'read' ? 1 : longest);
    const headsDrawing = drawingOf(asked, longest, site.heads.length);
    const headsScale = this.headsScaleOf(site.kind, headsDrawing);
    const scene: Scene = {
      header, maps: this.maps, state, site, map, mask, dark, colors, table, rowAxis, colAxis, drawing, headsDrawing, headsScale,
      bins: this.maps.binsOf(map, mask),
      shared: Math.max(...all) || 1,
      picture: this.picture,
      focus: null,
      scale: headsScale,
      ends: asked.range ? 'asked' : endsOfColors(drawing, state),
      own: 'this map',
      drawn: null,
    };
    scene.focus = this.focusOf(scene, looked);
    // Small multiples are compared, so they share their colours.
    if (state.view !== 'heads') this.setScale(scene, looked);
    return scene;
  }

  /** One scale for all small maps of a kind. */
  private headsScaleOf(kind: string, drawing: MapDrawing): ColorScale {
    const key = JSON.stringify([kind, drawing]);
    let scale = this.headsScales.get(key);
    if (!scale) {
      const values: number[] = [];
      for (const [index, site] of this.header.sites.entries()) {
        if (site.kind !== kind) continue;
        for (const head of site.heads) for (const value of this.maps.thumbnail(index, head, drawing.of).values) values.push(value);
      }
      this.headsScales.set(key, (scale = scaleOf(drawing, values)));
    }
    return scale;
  }

  /** The scale of what is shown: the map as a figure has it; in running text and over a picture the line. */
  private setScale(scene: Scene, looked: AxisInfo | null): void {
    const { state, map, drawing, focus } = scene;
    const grid = looked && (state.column ? scene.rowAxis : scene.colAxis) === looked ? gridOf(looked) : null;
    if (state.view !== 'read' || !focus) scene.scale = this.mapScaleOf(scene);
    else if (!grid && drawing.of === 'weight' && scene.ends === 'own') {
      scene.scale = { ...scaleOf(drawing, []), high: map.largest || 1 }; // the same for every word
    } else {
      const line = lineOf(map, focus.token, state.column);
      scene.scale = scaleOf(drawing, valuesOf(scene, grid ? line.subarray(grid.begin) : line));
      scene.own = `this ${state.column ? 'column' : 'row'}${grid ? ' on the picture' : ''}`;
    }
    if (scene.ends === 'shared') scene.scale = { ...scene.scale, high: scene.shared, above: false };
  }

  /** Kept as long as nothing of it changes. */
  private mapScaleOf({ map, bins, drawing, ends }: Scene): ColorScale {
    if (ends === 'fixed') return scaleOf(drawing, []);
    const last = this.lastScale;
    const key = JSON.stringify(drawing);
    if (last?.map === map && last.key === key) return last.scale;
    const scale = scaleOf(drawing, bins.drawn(figureBlock(map.rows, map.cols), drawing.of).all());
    this.lastScale = { map, key, scale };
    return scale;
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

function endsOfColors(drawing: MapDrawing, state: State): Ends {
  if (drawing.range || drawing.curve === 'log') return 'fixed';
  return drawing.of === 'times-even' || state.ownRange ? 'own' : 'shared';
}

/** Never hidden: row or column, layer, head, what the numbers are and their sum, and what the colours are of. */
function captionOf(scene: Scene): string {
  const { state, site, map, focus, drawing, drawn } = scene;
  const place = placeText(site.layer, state.head, site.heads.length);
  const bins = drawn && drawn.block > 1 ? ` · per bin of ${drawn.block} × ${drawn.block}: rows by mean, columns by sum` : '';
  if (!focus) {
    const whole = drawing.of === 'weight' ? matrixCaption(place, map.rowSums) : valueCaption(place, meaningOf(drawing.of));
    return whole + bins + (drawn ? colorsNote(drawing, scene.scale, drawn.most) : '');
  }
  const label = isolated(axesOf(scene).token.names[focus.token] ?? '');
  const sums = state.column ? map.colSums : map.rowSums;
  const value = drawing.of === 'weight' ? 'softmax weight' : 'softmax weight, times even';
  const caption = tokenCaption(tokenText(label, focus.token, state.column), place, sums[focus.token] ?? 0, value);
  const { other } = axesOf(scene);
  const grid = scene.header.picture ? gridOf(other) : null;
  if (!grid || grid.begin === 0) return caption;
  const beside = massBeside(grid, lineOf(map, focus.token, state.column));
  return `${caption}, of which ${Math.max(0, (sums[focus.token] ?? 0) - beside).toFixed(2)} on ${other.name}`;
}
