import { describe, expect, it } from 'vitest';
import { TileQueue, type Wanted } from './queue';

interface Call { key: string; signal: AbortSignal; give(value: string): void; fail(error: Error): void }

function harness(atOnce = 4, keep = 1e9) {
  const calls: Call[] = [];
  const timers: { at: number; run: () => void }[] = [];
  const failures: string[] = [];
  const clock = { now: 0 };
  const queue = new TileQueue<string>({
    load: (key, signal) => new Promise((give, fail) => {
      calls.push({ key, signal, give, fail });
      signal.addEventListener('abort', () => fail(new DOMException('aborted', 'AbortError')));
    }),
    bytes: (value) => value.length,
    provisional: (value) => value.startsWith('~'),
    changed: () => undefined,
    failed: (key) => failures.push(key),
    atOnce, keep,
    now: () => clock.now,
    later: (run, ms) => timers.push({ at: clock.now + ms, run }),
  });
  const pass = (ms: number) => {
    clock.now += ms;
    for (const timer of timers.splice(0)) timer.at <= clock.now ? timer.run() : timers.push(timer);
  };
  const open = () => calls.filter(({ signal }) => !signal.aborted);
  const settle = () => new Promise((done) => setTimeout(done, 0));
  return { queue, calls, open, failures, pass, settle };
}

const want = (visible: string[], prefetch: string[] = []): Wanted[] => [
  ...visible.map((key) => ({ key, tier: 'visible' as const })),
  ...prefetch.map((key) => ({ key, tier: 'prefetch' as const })),
];

describe('the queue', () => {
  it('has at most so many in flight, in their order, what is seen first', async () => {
    const { queue, calls, settle } = harness();
    queue.want(want(['a', 'b', 'c'], ['p', 'q', 'r']));
    expect(calls.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'p']);
    calls[0]?.give('A');
    await settle();
    expect(calls.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'p', 'q']);
    expect(queue.get('a')).toBe('A');
    expect(queue.counts.mostInFlight).toBe(4);
  });

  it('aborts what nobody wants any more', async () => {
    const { queue, calls, settle } = harness();
    queue.want(want(['a', 'b']));
    queue.want(want(['b', 'c']));
    expect(calls.find(({ key }) => key === 'a')?.signal.aborted).toBe(true);
    expect(calls.find(({ key }) => key === 'b')?.signal.aborted).toBe(false);
    await settle();
    expect(queue.counts).toMatchObject({ aborted: 1, failed: 0 });
    expect(queue.inFlight).toBe(2);
  });

  it('takes the place of what is wanted less', () => {
    const { queue, open } = harness(2);
    queue.want(want([], ['p', 'q']));
    queue.want(want(['a'], ['p', 'q']));
    expect(open().map(({ key }) => key).sort()).toEqual(['a', 'q']);
  });

  it('asks again for what is provisional, later and later, until it is exact', async () => {
    const { queue, calls, settle, pass } = harness();
    queue.want(want(['a']));
    calls[0]?.give('~a');
    await settle();
    expect(queue.progress()).toEqual({ done: 1, all: 1, exact: false });
    expect(calls).toHaveLength(1);
    pass(60);
    expect(calls).toHaveLength(2);
    calls[1]?.give('~a');
    await settle();
    pass(60);
    expect(calls).toHaveLength(2);
    pass(60);
    calls[2]?.give('exact');
    await settle();
    pass(9999);
    expect(calls).toHaveLength(3);
    expect(queue.progress()).toEqual({ done: 1, all: 1, exact: true });
  });

  it('asks for what is missing before it asks again for what is provisional', async () => {
    const { queue, calls, settle, pass } = harness(1);
    queue.want(want(['a', 'b']));
    calls[0]?.give('~a');
    await settle();
    pass(1000);
    expect(calls.at(-1)?.key).toBe('b');
  });

  it('does not ask again for what failed until it is resumed', async () => {
    const { queue, calls, failures, settle } = harness();
    queue.want(want(['a']));
    calls[0]?.fail(new Error('gone'));
    await settle();
    queue.want(want(['a']));
    expect(calls).toHaveLength(1);
    expect(failures).toEqual(['a']);
    queue.resume();
    expect(calls).toHaveLength(2);
  });

  it('keeps what is wanted and lets go of what was wanted longest ago', async () => {
    const { queue, calls, settle } = harness(4, 10);
    for (const key of ['a', 'b', 'c', 'd']) {
      queue.want(want([key]));
      calls.at(-1)?.give(`${key}___`);
      await settle();
    }
    expect(['a', 'b', 'c', 'd'].map((key) => queue.peek(key) !== undefined)).toEqual([false, false, true, true]);
    expect(queue.bytes).toBe(8);
  });

  it('paused asks for nothing and loses nothing', async () => {
    const { queue, calls, settle } = harness();
    queue.want(want(['a', 'b']));
    calls[0]?.give('A');
    await settle();
    queue.pause();
    expect(calls[1]?.signal.aborted).toBe(true);
    expect(queue.peek('a')).toBe('A');
    queue.resume();
    expect(calls.map(({ key }) => key)).toEqual(['a', 'b', 'b']);
  });
});
