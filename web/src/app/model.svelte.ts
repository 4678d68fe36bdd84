/** What the page knows and shows. Panels read it; commands change it. */
import { Api, Lost, Refused, isAbort, type JobStep } from '../core/api';
import { START, fromAddress, isMove, toAddress, type PageName, type Place } from '../core/address';
import { EXAMPLE, exampleFetch, type Examples } from '../core/example';
import { Commands } from '../core/commands';
import { Run, type Site } from '../core/run';
import { fetchLabels, fetchModels, fetchRun, fetchRuns, type ModelInfo, type RunSummary } from '../core/wire';
import { fill, words } from '../words/words';

export interface Cell {
  row: number;
  col: number;
}

export interface Problem {
  title: string;
  text: string;
  /** To be copied into a report; empty for what the reader can mend. */
  report: string;
  again: (() => void) | null;
}

export interface Job {
  model: string;
  stage: string;
  done: number;
  total: number;
  unit: string;
  /** What a model wrote so far. */
  written: string;
  began: number;
  moved: number;
}

export interface Status {
  exact: boolean;
  done: number;
  all: number;
  ms: number;
  notes: string[];
  drawn: string;
}

type Timer = ReturnType<typeof setTimeout>;

const MOVE_MS = 200;
const STALL_MS = 10_000;
const RETRY_SECONDS = [1, 2, 4, 8];
/** From so many tokens on a text opens as a map. */
export const MAP_FROM = 2000;

export class Model {
  /** What was chosen, and what is only looked at while the pointer is there. */
  kept = $state.raw<Place>({ ...START });
  preview = $state.raw<Pick<Place, 'layer' | 'head'> | null>(null);
  readonly place = $derived<Place>(this.preview ? { ...this.kept, ...this.preview } : this.kept);
  models = $state.raw<ModelInfo[]>([]);
  runs = $state.raw<RunSummary[]>([]);
  run = $state.raw<Run | null>(null);
  /** Which the field shows. */
  modelName = $state('');
  input = $state('');
  hover = $state.raw<Cell | null>(null);
  job = $state.raw<Job | null>(null);
  stalled = $state(false);
  cancelled = $state('');
  problem = $state.raw<Problem | null>(null);
  lost = $state.raw<{ seconds: number } | null>(null);
  toast = $state('');
  status = $state.raw<Status>({ exact: true, done: 0, all: 0, ms: 0, notes: [], drawn: 'CPU' });
  spoken = $state('');
  dialog = $state<'' | 'palette' | 'help' | 'goto'>('');
  /** Grows whenever names came or a line is there. */
  version = $state(0);
  dark = $state(false);
  /** Grows whenever colours of the page changed. */
  repaint = $state(0);
  ready = $state(false);

  readonly api: Api;
  readonly commands: Commands;
  private abort: AbortController | null = null;
  private pushed = '';
  private mover: Timer | undefined;
  private retry: Timer | undefined;
  private toaster: Timer | undefined;
  private onBack: (() => void)[] = [];

  constructor(base = '') {
    this.api = new Api(base);
    this.commands = new Commands();
    this.kept = fromAddress(location.hash);
    this.pushed = toAddress(this.kept);
    addEventListener('popstate', () => this.arrive(fromAddress(location.hash)));
    addEventListener('hashchange', () => this.arrive(fromAddress(location.hash)));
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const forced = matchMedia('(forced-colors: active)');
    const theme = () => {
      this.dark = this.place.theme ? this.place.theme === 'dark' : dark.matches;
      if (this.place.theme) document.documentElement.dataset['theme'] = this.place.theme;
      else delete document.documentElement.dataset['theme'];
      ++this.repaint;
    };
    dark.addEventListener('change', theme);
    forced.addEventListener('change', theme);
    this.applyTheme = theme;
    theme();
  }

  private readonly applyTheme: () => void;

  get site(): Site | null {
    return this.run?.site(this.place.site) ?? null;
  }

  /** Changes what is shown, and the address with it. */
  go(change: Partial<Place>): void {
    const before = this.kept;
    this.preview = null;
    const next = this.settled({ ...before, ...change });
    this.kept = next;
    if (next.theme !== before.theme) this.applyTheme();
    const address = toAddress(next);
    if (address === toAddress(before)) return;
    if (isMove(before, next)) {
      clearTimeout(this.mover);
      this.mover = setTimeout(() => this.write(false), MOVE_MS);
    } else {
      clearTimeout(this.mover);
      this.write(true);
    }
  }

  private write(push: boolean): void {
    const address = toAddress(this.kept);
    if (address === this.pushed) return;
    this.pushed = address;
    const url = `${location.pathname}${location.search}${address ? `#${address}` : ''}`;
    if (push) history.pushState(null, '', url);
    else history.replaceState(null, '', url);
  }

  private arrive(place: Place): void {
    const address = toAddress(place);
    if (address === toAddress(this.kept)) return;
    const before = this.kept;
    this.pushed = address;
    this.kept = this.settled(place);
    if (place.theme !== before.theme) this.applyTheme();
    if (place.run !== before.run) void this.open(place.run);
  }

  /** With everything in range. */
  private settled(place: Place): Place {
    const { run } = this;
    if (!run || run.info.hash !== place.run) return place;
    const site = run.site(place.site);
    const inside = (index: number | null, size: number) => (index !== null && index < size ? index : null);
    return {
      ...place,
      site: site.name,
      layer: site.layers.includes(place.layer) ? place.layer : (site.layers[0] ?? 0),
      head: typeof place.head === 'number' ? Math.min(place.head, site.heads - 1) : place.head,
      row: inside(place.row, site.rows),
      col: inside(place.col, site.cols),
      more: place.more.filter((index) => index < (place.column ? site.cols : site.rows)),
    };
  }

  async start(): Promise<void> {
    await this.list();
    if (this.place.run) await this.open(this.place.run);
    this.ready = true;
  }

  async list(): Promise<void> {
    try {
      const [models, runs] = await Promise.all([fetchModels(this.api), fetchRuns(this.api)]);
      this.models = models;
      this.runs = runs;
      if (!models.some(({ name }) => name === this.modelName)) this.modelName = models.find(({ takes }) => takes.includes('text'))?.name ?? models[0]?.name ?? '';
    } catch (error) {
      this.failed(error, () => void this.list());
    }
  }

  private found: Promise<Examples> | null = null;

  /** What was computed when the page was built. */
  examples(): Promise<Examples> {
    this.found ??= fetch('./examples.json').then((answer) => answer.json() as Promise<Examples>);
    this.found.catch(() => (this.found = null));
    return this.found;
  }

  async openExample(row?: number): Promise<void> {
    const { sentence } = await this.examples();
    const { layer, head, column } = sentence.start;
    await this.open(EXAMPLE, 'text');
    this.go({ layer, head, row: row ?? sentence.start.row, col: row === undefined || row === sentence.start.row ? column : null });
  }

  private async apiOf(hash: string): Promise<Api> {
    return hash === EXAMPLE ? new Api('', exampleFetch(await this.examples())) : this.api;
  }

  /** A picture or an array of the reader's: checked and kept by the server, then run. */
  async upload(file: File): Promise<void> {
    this.problem = null;
    try {
      const upload = await this.api.upload(file);
      const picture = /\.(png|jpe?g|webp|gif|bmp|tiff?)$/i.test(file.name);
      const model = this.models.find(({ takes }) => takes.includes('picture'))?.name ?? '';
      await this.ask(picture ? { model, input: { upload } } : { input: { upload } });
    } catch (error) {
      this.failed(error, () => void this.upload(file));
    }
  }

  /** Shows a run that the server has. */
  async open(hash: string, page?: PageName): Promise<void> {
    if (!hash) {
      this.run = null;
      return;
    }
    try {
      const api = await this.apiOf(hash);
      const info = await fetchRun(api, hash);
      const run = new Run(api, info, (site, axis, from, count) => fetchLabels(api, info, site, axis, from, count), () => ++this.version);
      this.run = run;
      this.problem = null;
      this.modelName = this.models.some(({ name }) => name === info.model) ? info.model : this.modelName;
      this.input = info.input;
      const site = run.site(this.place.site);
      const long = Math.max(site.rows, site.cols) > MAP_FROM;
      const same = this.place.run === hash;
      const wanted = page ?? (same && this.place.page !== 'home' ? this.place.page : long ? 'map' : 'text');
      this.go({ run: hash, page: wanted, ...(same ? {} : { site: site.name, row: null, col: null, more: [], zoom: null }) });
      this.go({});
    } catch (error) {
      if (error instanceof Refused && (error.status === 404 || error.status === 410)) await this.missing(hash, error);
      else this.failed(error, () => void this.open(hash, page));
    }
  }

  /** The run is no longer there: its input is asked again, if this page knows it. */
  private async missing(hash: string, error: Refused): Promise<void> {
    const kept = sessionStorage.getItem(`fovea:${hash}`);
    if (kept) {
      this.say(words.states.gone);
      await this.ask(JSON.parse(kept) as Record<string, unknown>);
      return;
    }
    this.run = null;
    this.problem = { title: fill(words.states.missing, { hash }), text: error.message, report: '', again: null };
  }

  /** Runs what was typed. */
  async ask(request: Record<string, unknown>): Promise<void> {
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    const model = String(request['model'] ?? '');
    this.problem = null;
    this.cancelled = '';
    this.stalled = false;
    this.job = { model, stage: words.states.asked, done: 0, total: 0, unit: '', written: '', began: performance.now(), moved: performance.now() };
    const watch = setInterval(() => {
      if (this.job && performance.now() - this.job.moved > STALL_MS) this.stalled = true;
    }, 500);
    try {
      for await (const step of this.api.job('/runs', request, abort.signal)) await this.jobStep(step, request);
    } catch (error) {
      if (isAbort(error)) this.cancelled = this.abort === abort ? (this.job?.stage ?? '') : '';
      else this.failed(error, () => void this.ask(request));
    } finally {
      clearInterval(watch);
      if (this.abort === abort) {
        this.job = null;
        this.abort = null;
      }
    }
  }

  private async jobStep(step: JobStep, request: Record<string, unknown>): Promise<void> {
    if (step.error) throw new Refused(422, step.error.kind, step.error.field ?? '', step.error.message);
    if (step.run) {
      try {
        sessionStorage.setItem(`fovea:${step.run}`, JSON.stringify(request));
      } catch {
        // A text that is larger than what a browser keeps is typed again.
      }
      await this.open(step.run, this.place.page === 'map' ? 'map' : undefined);
      void this.list();
      return;
    }
    if (!this.job) return;
    this.stalled = false;
    if (typeof step.written === 'string') {
      this.job = { ...this.job, written: this.job.written + step.written, moved: performance.now() };
      return;
    }
    this.job = { ...this.job, stage: step.stage ?? this.job.stage, done: step.done ?? 0, total: step.total ?? 0, unit: step.unit ?? '', moved: performance.now() };
  }

  cancel(): void {
    this.abort?.abort();
  }

  keepWaiting(): void {
    this.stalled = false;
    if (this.job) this.job = { ...this.job, moved: performance.now() };
  }

  /** An error stands where the result would; what is on screen stays. */
  failed(error: unknown, again: (() => void) | null = null): void {
    if (isAbort(error)) return;
    if (error instanceof Lost) {
      this.loseServer(again);
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    const [title, ...rest] = message.split(/(?<=[.;:])\s+/);
    const input = error instanceof Refused && error.input;
    const report = input ? '' : `${error instanceof Refused ? `${error.status} ${error.kind}` : 'page'}: ${message} (${location.hash})`;
    this.problem = { title: title ?? message, text: rest.join(' '), report, again };
  }

  /** What to do once the server answers again. */
  loseServer(again: (() => void) | null): void {
    if (again) this.onBack.push(again);
    if (this.lost) return;
    let tries = 0;
    let seconds = RETRY_SECONDS[0] as number;
    this.lost = { seconds };
    const tick = () => {
      seconds -= 1;
      if (seconds > 0) {
        this.lost = { seconds };
        this.retry = setTimeout(tick, 1000);
        return;
      }
      void this.retryNow().then((back) => {
        if (back) return;
        ++tries;
        seconds = RETRY_SECONDS[Math.min(tries, RETRY_SECONDS.length - 1)] as number;
        this.lost = { seconds };
        this.retry = setTimeout(tick, 1000);
      });
    };
    this.retry = setTimeout(tick, 1000);
  }

  async retryNow(): Promise<boolean> {
    try {
      this.runs = await fetchRuns(this.api);
    } catch (error) {
      if (error instanceof Lost) return false;
    }
    clearTimeout(this.retry);
    this.lost = null;
    this.say(words.states.back);
    for (const again of this.onBack.splice(0)) again();
    // A server that was started anew may not have the run any more.
    const hash = this.place.run;
    if (hash && hash !== EXAMPLE) {
      try {
        await fetchRun(this.api, hash);
      } catch (error) {
        if (error instanceof Refused) await this.missing(hash, error);
      }
    }
    return true;
  }

  say(text: string): void {
    this.toast = text;
    clearTimeout(this.toaster);
    this.toaster = setTimeout(() => (this.toast = ''), 3500);
  }
}
