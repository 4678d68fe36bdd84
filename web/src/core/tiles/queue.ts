/**
 * Asks for tiles: what is seen first, then a ring around it and the next level, few at a time. What nobody wants any more is aborted,
 * and what is wanted more takes the place of what is wanted less. Tiles are kept by their bytes, the least recently wanted go first.
 */
export type Tier = 'visible' | 'prefetch';

export interface Wanted {
  key: string;
  tier: Tier;
}

export interface QueueOptions<T> {
  load(key: string, signal: AbortSignal): Promise<T>;
  bytes(value: T): number;
  /** Whether a better one should be asked for again. */
  provisional(value: T): boolean;
  changed(): void;
  failed(key: string, error: unknown): void;
  atOnce?: number;
  keep?: number;
  now?(): number;
  later?(run: () => void, ms: number): unknown;
}

interface Flight {
  tier: Tier;
  abort: AbortController;
}

interface Kept<T> {
  value: T;
  bytes: number;
  /** Asked for again not before. */
  again: number;
  tries: number;
}

const AGAIN_MS = [60, 120, 250, 500, 1000];

export class TileQueue<T> {
  readonly counts = { asked: 0, aborted: 0, done: 0, failed: 0, mostInFlight: 0 };
  private wanted: Wanted[] = [];
  private readonly flights = new Map<string, Flight>();
  private readonly kept = new Map<string, Kept<T>>();
  private readonly refused = new Set<string>();
  private held = 0;
  private paused = false;

  constructor(private readonly options: QueueOptions<T>) {}

  /** In the order of their need; replaces what was wanted before. */
  want(wanted: Wanted[]): void {
    this.wanted = wanted;
    const tiers = new Map(wanted.map(({ key, tier }) => [key, tier]));
    for (const [key, flight] of this.flights) {
      const tier = tiers.get(key);
      if (tier === undefined) this.abort(key, flight);
      else flight.tier = tier;
    }
    this.pump();
  }

  get(key: string): T | undefined {
    const found = this.kept.get(key);
    if (!found) return undefined;
    this.kept.delete(key);
    this.kept.set(key, found);
    return found.value;
  }

  /** Without making it more recent. */
  peek(key: string): T | undefined {
    return this.kept.get(key)?.value;
  }

  get inFlight(): number {
    return this.flights.size;
  }

  get bytes(): number {
    return this.held;
  }

  /** Of what is wanted and visible: how many are there and how many there are. */
  progress(): { done: number; all: number; exact: boolean } {
    const visible = this.wanted.filter(({ tier }) => tier === 'visible');
    const there = visible.map(({ key }) => this.kept.get(key)).filter((each) => each !== undefined);
    const exact = there.length === visible.length && there.every((each) => !this.options.provisional(each.value));
    return { done: there.length, all: visible.length, exact };
  }

  /** Nothing is asked for until resume(); what is there stays. */
  pause(): void {
    this.paused = true;
    for (const [key, flight] of this.flights) this.abort(key, flight);
  }

  resume(): void {
    this.paused = false;
    this.refused.clear();
    this.pump();
  }

  clear(): void {
    for (const [key, flight] of this.flights) this.abort(key, flight);
    this.kept.clear();
    this.refused.clear();
    this.wanted = [];
    this.held = 0;
  }

  private abort(key: string, flight: Flight): void {
    ++this.counts.aborted;
    this.flights.delete(key);
    flight.abort.abort();
  }

  private now(): number {
    return this.options.now?.() ?? performance.now();
  }

  /** What should be asked for: what is missing before what is only provisional. */
  private open(tier: Tier): string | undefined {
    const free = this.wanted.filter((each) => each.tier === tier && !this.flights.has(each.key) && !this.refused.has(each.key));
    const missing = free.find(({ key }) => !this.kept.has(key));
    if (missing || tier !== 'visible') return missing?.key;
    const now = this.now();
    return free.find(({ key }) => {
      const kept = this.kept.get(key) as Kept<T>;
      return this.options.provisional(kept.value) && kept.again <= now;
    })?.key;
  }

  private pump(): void {
    if (this.paused) return;
    const atOnce = this.options.atOnce ?? 4;
    for (;;) {
      const visible = this.open('visible');
      const key = visible ?? this.open('prefetch');
      if (key === undefined) return;
      if (this.flights.size >= atOnce) {
        const lower = visible === undefined ? undefined : [...this.flights].find(([, { tier }]) => tier === 'prefetch');
        if (!lower) return;
        this.abort(...lower);
      }
      this.start(key, visible === undefined ? 'prefetch' : 'visible');
    }
  }

  private start(key: string, tier: Tier): void {
    const flight: Flight = { tier, abort: new AbortController() };
    this.flights.set(key, flight);
    ++this.counts.asked;
    this.counts.mostInFlight = Math.max(this.counts.mostInFlight, this.flights.size);
    this.options.load(key, flight.abort.signal).then(
      (value) => this.landed(key, flight, value),
      (error: unknown) => this.lost(key, flight, error),
    );
  }

  private landed(key: string, flight: Flight, value: T): void {
    if (this.flights.get(key) !== flight) return;
    this.flights.delete(key);
    ++this.counts.done;
    const before = this.kept.get(key);
    const tries = (before?.tries ?? -1) + 1;
    const wait = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] as number;
    const bytes = this.options.bytes(value);
    this.held += bytes - (before?.bytes ?? 0);
    this.kept.delete(key);
    this.kept.set(key, { value, bytes, again: this.now() + wait, tries });
    this.evict();
    if (this.options.provisional(value)) (this.options.later ?? setTimeout)(() => this.pump(), wait);
    this.options.changed();
    this.pump();
  }

  private lost(key: string, flight: Flight, error: unknown): void {
    if (this.flights.get(key) !== flight) return; // aborted, or replaced
    this.flights.delete(key);
    ++this.counts.failed;
    this.refused.add(key);
    this.options.failed(key, error);
    this.pump();
  }

  private evict(): void {
    const keep = this.options.keep ?? 128 * 2 ** 20;
    const needed = new Set(this.wanted.map(({ key }) => key));
    for (const [key, { bytes }] of this.kept) {
      if (this.held <= keep) return;
      if (needed.has(key)) continue;
      this.kept.delete(key);
      this.held -= bytes;
    }
  }
}
