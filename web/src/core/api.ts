/** What the server is asked, and how its answers are read. The only place that knows of addresses and HTTP. */
import type { HeadName } from './captions';
import { TILE, readTile, type Encoding, type Tile } from './tiles/tile';

/** An answer that is no: what was wrong, in the server's words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    readonly field: string,
    message: string,
  ) {
    super(message);
  }

  /** Something to change, not something that broke. */
  get input(): boolean {
    return this.status >= 400 && this.status < 500;
  }
}

/** Nobody answers. */
export class Lost extends Error {}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export type Fetch = (address: string, options?: RequestInit) => Promise<Response>;

/** A map: of one head, or of the mean or maximum of all. */
export interface MapAt {
  run: string;
  site: string;
  layer: number;
  head: HeadName;
}

export interface TileChoice {
  level: number;
  y: number;
  x: number;
  agg: 'mean' | 'max';
  of: string;
  encoding: Encoding;
}

export interface JobStep {
  stage?: string;
  done?: number;
  total?: number;
  unit?: string;
  written?: unknown;
  run?: string;
  error?: { kind: string; field?: string; message: string };
}

export class Api {
  constructor(
    private readonly base: string,
    private readonly send: Fetch = (address, options) => fetch(address, options),
  ) {}

  static ofRun({ run, site }: { run: string; site: string }): string {
    return `/runs/${encodeURIComponent(run)}/${encodeURIComponent(site)}`;
  }

  static ofHead(map: MapAt, what: string): string {
    return `${Api.ofRun(map)}/${what}/${map.layer}/${map.head}`;
  }

  async json<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.ask(path, signal ? { signal } : {})).json() as Promise<T>;
  }

  async bytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    const answer = await this.ask(path, signal ? { signal } : {});
    try {
      return await answer.arrayBuffer();
    } catch (error) {
      // The connection ended in the middle of it.
      throw isAbort(error) ? error : new Lost(String(error));
    }
  }

  async tile(map: MapAt, { level, y, x, agg, of, encoding }: TileChoice, signal?: AbortSignal): Promise<Tile> {
    const tile = readTile(await this.bytes(`${Api.ofHead(map, 'tiles')}/${level}/${y}/${x}?agg=${agg}&of=${of}&enc=${encoding}`, signal));
    const span = TILE * 2 ** level;
    return { ...tile, level, row: y * span, col: x * span };
  }

  async line(map: MapAt, index: number, column: boolean, signal?: AbortSignal): Promise<Float32Array<ArrayBuffer>> {
    return new Float32Array(await this.bytes(`${Api.ofHead(map, column ? 'column' : 'row')}/${index}`, signal));
  }

  /** The steps of a job as they come. Ending the loop, or the signal, cancels the job. */
  async *job(path: string, body: unknown, signal: AbortSignal): AsyncGenerator<JobStep> {
    const answer = await this.ask(path, {
      method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', Accept: 'application/x-ndjson' }, signal,
    });
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = (await reader?.read().catch((error: unknown) => {
        throw isAbort(error) ? error : new Lost(String(error));
      })) ?? { done: true, value: undefined };
      rest += value ?? '';
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim()) yield JSON.parse(line) as JobStep;
      if (done) break;
    }
    if (rest.trim()) yield JSON.parse(rest) as JobStep;
  }

  async upload(file: Blob & { name?: string }, signal?: AbortSignal): Promise<string> {
    const answer = await this.ask('/uploads', { method: 'POST', body: file, headers: { 'Content-Type': 'application/octet-stream' }, ...(signal ? { signal } : {}) });
    return ((await answer.json()) as { upload: string }).upload;
  }

  async post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    const answer = await this.ask(path, {
      method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, ...(signal ? { signal } : {}),
    });
    return answer.json() as Promise<T>;
  }

  private async ask(path: string, options: RequestInit): Promise<Response> {
    let answer: Response;
    try {
      answer = await this.send(`${this.base}/v1${path}`, options);
    } catch (error) {
      throw isAbort(error) ? error : new Lost(String(error));
    }
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }
}

async function refusal(answer: Response): Promise<Refused> {
  const text = await answer.text().catch(() => '');
  try {
    const { error } = JSON.parse(text) as { error: { kind?: string; field?: string; message?: string } };
    return new Refused(answer.status, error.kind ?? '', error.field ?? '', error.message ?? text);
  } catch {
    return new Refused(answer.status, '', '', text.trim() || `the server answered ${answer.status}`);
  }
}
