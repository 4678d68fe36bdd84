/** What a long map shows now: where, on which scale, and what lies under the pointer and the pin. */
import type { ValueName } from '../../core/address';
import { Refused } from '../../core/api';
import { drawingOf, withArrows } from '../../core/drawing';
import { LongMap } from '../../core/long_map';
import { spreadOf, type Spread } from '../../core/map_marks';
import type { Run } from '../../core/run';
import { SURVEY_MOST, fetchSurvey, type Survey } from '../../core/survey';
import type { ColorScale } from '../../core/scale';
import { colorTable, COLOR_NAMES, ICE_FIRE, type ColorName } from '../../core/tables';
import { buildLut, buildSignedLut, type Lut } from '../../core/tiles/lut';
import { MASKED } from '../../core/tiles/code';
import type { Tile } from '../../core/tiles/tile';
import * as port from '../../core/viewport';
import { words, fill } from '../../words/words';
import type { Cell, Model } from '../model.svelte';
import { tokenColor, glWanted } from '../theme';
import { MapEngine } from './engine';

const SPREAD_MS = 120;

export interface Under {
  cell: Cell;
  bin: number;
  rowEnd: number;
  colEnd: number;
  share: number;
  times: number;
  state: 'there' | 'forbidden' | 'pending';
}

export class MapState {
  engine: MapEngine | null = null;
  map = $state.raw<LongMap | null>(null);
  view = $state.raw<port.Viewport>({ level: 0, cell: 1, row: 0, col: 0 });
  fit = $state.raw<port.ZoomStep>({ level: 0, cell: 1 });
  bins = $state.raw({ across: 1, down: 1 });
  ratio = $state(1);
  /** Grows with every drawing. */
  drawn = $state(0);
  spread = $state.raw<Spread | null>(null);
  survey = $state.raw<Survey | null>(null);
  private surveying: AbortController | null = null;
  scale = $state.raw<ColorScale>({ low: 1 / 32, high: 32, curve: 'log', timesEven: true, below: false, above: false });
  table = $state.raw<Uint8Array>(colorTable('inferno'));
  progress = $state.raw({ done: 0, all: 0, exact: false });
  lut: Lut | null = null;
  private spreader: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly model: Model) {}

  mount(canvas: HTMLCanvasElement): () => void {
    const engine = new MapEngine(canvas, {
      drawn: () => this.afterDrawing(),
      failed: (error) => this.model.failed(error, () => engine.queue.resume()),
      lostContext: () => this.model.say(words.states.cpu),
    }, glWanted());
    this.engine = engine;
    return () => {
      clearTimeout(this.spreader);
      this.surveying?.abort();
      engine.dispose();
      this.engine = null;
    };
  }

  /** Another head or layer, or the same one. */
  choose(run: Run): void {
    const { place } = this.model;
    const site = run.site(place.site);
    const at = run.at(site, place.layer, place.head);
    const now = this.map;
    if (now && now.run === run && now.at.site === at.site && now.at.layer === at.layer && now.at.head === at.head) return;
    const map = new LongMap(run, site, at);
    this.map = map;
    this.engine?.show(map);
    this.askSurvey(map);
    map.findSinks().then((found) => {
      if (!found || this.map !== map) return;
      // Another object, so that what stands beside the map is told too.
      this.drawn += 1;
      this.engine?.draw();
    }, (error: unknown) => this.model.failed(error));
  }

  /** What stands beside it, where one pass over all weights is quick. */
  private askSurvey(map: LongMap): void {
    this.surveying?.abort();
    this.survey = null;
    const { rows, cols } = map.site;
    if (typeof map.at.head !== 'number' || Math.max(rows, cols) > SURVEY_MOST || Math.max(rows, cols) <= 64) return;
    const abort = (this.surveying = new AbortController());
    fetchSurvey(map.run.api, map.at, abort.signal).then((survey) => {
      if (this.map === map) this.survey = survey;
    }, (error: unknown) => {
      // The map is whole without it.
      if (!(error instanceof Refused)) this.model.failed(error);
    });
  }

  get of(): ValueName {
    const { place } = this.model;
    const site = this.map?.site;
    return place.of || (Math.max(site?.rows ?? 0, site?.cols ?? 0) > 64 ? 'times-even' : 'weight');
  }

  get colorName(): ColorName {
    return COLOR_NAMES.find((name) => name === this.model.place.colors) ?? 'inferno';
  }

  /** The table of colours anew; nothing else changes when a range, a curve or a theme does. */
  recolor(): void {
    const { engine, model } = this;
    if (!engine || !this.map) return;
    const of = this.of;
    const short = Math.max(this.map.site.rows, this.map.site.cols) <= 64;
    const grounds = { zero: [0, 0, 4] as [number, number, number], masked: tokenColor('--forbidden'), pending: [0, 0, 0] as [number, number, number] };
    const positions = Math.max(this.map.site.rows, this.map.site.cols);
    if (of === 'score') {
      const reach = Math.max(1, this.reach());
      this.scale = { low: -reach, high: reach, curve: 'linear', timesEven: false, below: false, above: false };
      this.table = ICE_FIRE;
      this.lut = buildSignedLut(reach, this.topOf(), ICE_FIRE, grounds);
    } else {
      const known = of === 'weight' ? 'weight' : 'times-even';
      const drawing = drawingOf({ of: known, curve: model.place.curve || (of === 'weight' && positions > 64 ? 'log' : ''), range: null }, positions);
      const most = known === 'weight' ? 1 : this.reach();
      this.scale = drawing.curve === 'log'
        ? { low: of === 'value-weighted' ? 1e-3 : known === 'times-even' ? 1 / 32 : 1e-5, high: of === 'value-weighted' ? Math.max(1, most) : known === 'times-even' ? 32 : 1, curve: 'log', timesEven: of === 'times-even', below: false, above: false }
        : { low: 0, high: of === 'times-even' ? 32 : of === 'weight' ? 1 : Math.max(1, most), curve: drawing.curve, timesEven: of === 'times-even', below: false, above: false };
      this.table = colorTable(this.colorName);
      this.lut = buildLut(known, this.scale, this.table, grounds);
    }
    // Nothing is drawn where nothing is known, so that the hatch below shows; short maps hatch what is not allowed too.
    this.lut[65535] = 0;
    if (short) this.lut[MASKED] = 0;
    engine.of = of;
    engine.pool = model.place.pool;
    engine.lut = this.lut;
    engine.want();
    engine.draw();
  }

  private reach(): number {
    return Math.max(1e-6, ...(this.engine?.tilesInView() ?? []).map(({ largest }) => largest));
  }

  private topOf(): number {
    return Math.max(0, ...(this.engine?.tilesInView() ?? []).map(({ top }) => top));
  }

  setRoom(width: number, height: number): void {
    const { engine } = this;
    if (!engine || !this.map) return;
    this.ratio = devicePixelRatio || 1;
    engine.setRoom(width * this.ratio, height * this.ratio, this.ratio);
    this.fit = engine.fit;
    this.look();
  }

  /** Where the address says, or all of it. */
  look(): void {
    const { engine, model } = this;
    if (!engine || !this.map) return;
    const { zoom } = model.place;
    engine.look(zoom ? { level: Math.min(zoom.level, engine.fit.level), cell: zoom.cell, row: zoom.row, col: zoom.col } : { ...engine.fit, row: 0, col: 0 });
    this.view = engine.view;
    this.bins = engine.bins;
  }

  get whole(): boolean {
    return this.view.level === this.fit.level && this.view.cell <= this.fit.cell;
  }

  get bin(): number {
    return port.binOf(this.view);
  }

  /** Pixels of the page in a bin. */
  get cell(): number {
    return this.view.cell / this.ratio;
  }

  moveTo(view: port.Viewport): void {
    const { engine } = this;
    if (!engine) return;
    const next = port.clamped(view, engine.shape, engine.width, engine.height);
    const whole = next.level === engine.fit.level && next.cell <= engine.fit.cell;
    this.model.go({ zoom: whole ? null : { level: next.level, cell: next.cell, row: next.row, col: next.col } });
    this.look();
  }

  /** Closer or further, the token at the point staying where it is. Without a point: the pin, or the middle. */
  zoom(by: number, at?: { x: number; y: number }): void {
    const { engine } = this;
    if (!engine) return;
    const list = port.steps(engine.fit, this.ratio);
    const to = list[Math.max(0, Math.min(list.length - 1, port.stepIndex(list, this.view) + by))] as port.ZoomStep;
    const { row, col } = this.model.place;
    let point = at;
    if (!point && row !== null && col !== null) {
      const pixel = port.pixelOfCell(this.view, row, col);
      const inside = pixel.x >= 0 && pixel.y >= 0 && pixel.x < engine.width && pixel.y < engine.height;
      if (inside && by > 0) {
        this.moveTo(port.centredOn(to, row, col, engine.shape, engine.width, engine.height));
        return;
      }
      if (inside) point = pixel;
    }
    point ??= { x: (this.bins.across * this.view.cell) / 2, y: (this.bins.down * this.view.cell) / 2 };
    this.moveTo(port.zoomedAt(this.view, to, point.x, point.y, engine.shape, engine.width, engine.height));
  }

  pan(across: number, down: number): void {
    const { engine } = this;
    if (!engine) return;
    const perPixel = this.bin / this.view.cell;
    this.moveTo({ ...this.view, row: this.view.row + down * engine.height * perPixel, col: this.view.col + across * engine.width * perPixel });
  }

  /** Moves so that the cell is in view. */
  reveal({ row, col }: Cell): void {
    const { engine } = this;
    if (!engine || this.whole) return;
    const { x, y } = port.pixelOfCell(this.view, row, col);
    if (x >= 0 && y >= 0 && x + this.view.cell <= engine.width && y + this.view.cell <= engine.height) return;
    this.moveTo(port.centredOn(this.view, row, col, engine.shape, engine.width, engine.height));
  }

  /** Straight to a cell, close enough to see it. */
  jump({ row, col }: Cell): void {
    const { engine } = this;
    if (!engine) return;
    const list = port.steps(engine.fit, this.ratio);
    const close = list.find(({ level, cell }) => level === 0 && cell >= 6 * this.ratio) ?? (list.at(-1) as port.ZoomStep);
    const step = this.view.level === 0 && !this.whole ? this.view : close;
    this.moveTo(port.centredOn(step, row, col, engine.shape, engine.width, engine.height));
  }

  under(cell: Cell | null): Under | null {
    const { engine, map } = this;
    void this.drawn;
    if (!cell || !engine || !map) return null;
    const bin = this.bin;
    const [row, col] = [Math.floor(cell.row / bin) * bin, Math.floor(cell.col / bin) * bin];
    const rowEnd = Math.min(map.site.rows, row + bin);
    const colEnd = Math.min(map.site.cols, col + bin);
    const at = { cell: { row, col }, bin, rowEnd, colEnd, share: Number.NaN, times: Number.NaN };
    const tile = engine.tileAt(row, col);
    if (!tile) return { ...at, state: map.causal && col >= rowEnd ? 'forbidden' : 'pending' };
    const found = map.bin(tile, row, col);
    if (!found) return { ...at, state: this.codeIn(tile, row, col) === MASKED ? 'forbidden' : 'pending' };
    return { ...at, share: found.share, times: found.times, state: 'there' };
  }

  private codeIn(tile: Tile, row: number, col: number): number {
    return tile.codes[Math.floor((row - tile.row) / this.bin) * tile.width + Math.floor((col - tile.col) / this.bin)] ?? 65535;
  }

  /** The cell of a bin with the largest weight. */
  async strongest({ row, col }: Cell): Promise<{ cell: Cell; weight: number } | null> {
    const { map, bin } = this;
    if (!map) return null;
    let best: { cell: Cell; code: number } | null = null;
    const sinks = new Set(map.sinks.map((sink) => sink.col));
    for (const at of port.tilesOver(0, map.site, row, row + bin, col, col + bin)) {
      const tile = await map.run.api.tile(map.at, { ...at, agg: 'mean', of: 'weight', encoding: 'L16' });
      for (let i = Math.max(row, tile.row); i < Math.min(row + bin, tile.row + tile.height); ++i) {
        for (let j = Math.max(col, tile.col); j < Math.min(col + bin, tile.col + tile.width); ++j) {
          const code = tile.codes[(i - tile.row) * tile.width + (j - tile.col)] as number;
          if (code < MASKED && !(bin > 1 && sinks.has(j)) && (!best || code > best.code)) best = { cell: { row: i, col: j }, code };
        }
      }
    }
    return best && { cell: best.cell, weight: 2 ** ((32 * (best.code - 1)) / 65532 - 32) };
  }

  private afterDrawing(): void {
    const { engine } = this;
    if (!engine) return;
    this.progress = engine.queue.progress();
    this.drawn += 1;
    const { bins, bin } = this;
    const notes = [
      this.view.level > 0 ? `${bins.across} × ${bins.down} ${words.inspector.bins}, ${bin} × ${bin}` : fill(words.map.cellsAt, { p: this.cell }),
      ...(this.view.level > 0 ? [this.model.place.pool === 'max' ? `max ${bin}×` : 'rows by mean, columns by sum'] : []),
    ];
    this.model.status = { ...this.progress, ms: engine.loadMs, notes, drawn: engine.painter.name };
    clearTimeout(this.spreader);
    this.spreader = setTimeout(() => this.count(), SPREAD_MS);
  }

  private count(): void {
    const { engine, map } = this;
    if (!engine || !map || this.of === 'score' || this.of === 'value-weighted') {
      this.spread = null;
      return;
    }
    const tiles = engine.tilesInView().map((tile) => ({ codes: map.codes(tile, this.of), shares: map.codes(tile, 'weight') }));
    const spread = spreadOf(tiles, this.scale);
    this.spread = spread;
    this.scale = withArrows(this.scale, spread.below[0] > 0 ? 0 : this.scale.low, spread.largest);
  }
}
