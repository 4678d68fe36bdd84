/** What can be done on every page. */
import type { Command } from '../core/commands';
import { TEXT_VIEWS } from '../core/address';
import { words } from '../words/words';
import type { Model } from './model.svelte';

const PLAY_MS = 500;
const WORDS_TO_WRITE = 20;

export function appCommands(model: Model): Command[] {
  let playing: ReturnType<typeof setInterval> | undefined;
  const noRun = () => (model.run ? '' : words.states.noRun);
  const site = () => model.site;
  const layer = (by: number, round = false) => {
    const layers = site()?.layers ?? [0];
    const next = layers.indexOf(model.place.layer) + by;
    model.go({ layer: layers[round ? next % layers.length : Math.max(0, Math.min(layers.length - 1, next))] ?? 0 });
  };
  const head = (by: number) => {
    const { head: now } = model.place;
    const count = site()?.heads ?? 1;
    model.go({ head: typeof now === 'number' ? Math.max(0, Math.min(count - 1, now + by)) : by > 0 ? 0 : count - 1 });
  };
  const stop = () => {
    clearInterval(playing);
    playing = undefined;
  };
  const play = () => {
    if (playing) return stop();
    playing = setInterval(() => layer(1, true), PLAY_MS);
  };
  const themes = ['', 'light', 'dark'] as const;
  return [
    { id: 'app.palette', keys: ['Ctrl+K'], everywhere: true, run: () => (model.dialog = model.dialog === 'palette' ? '' : 'palette') },
    { id: 'app.help', keys: ['?'], everywhere: true, run: () => (model.dialog = model.dialog === 'help' ? '' : 'help') },
    { id: 'app.theme', keys: ['t'], run: () => model.go({ theme: themes[(themes.indexOf(model.place.theme) + 1) % 3] ?? '' }) },
    { id: 'app.link', keys: ['Ctrl+Shift+C'], everywhere: true, run: () => void copy(model, location.href, words.states.copied) },
    { id: 'app.cancel', unless: () => (model.job ? '' : words.states.exact), run: () => model.cancel() },
    {
      id: 'app.continue',
      unless: () => (model.models.find(({ name }) => name === model.modelName)?.writes && model.input.trim() ? '' : words.states.cannotWrite),
      run: () => void model.ask({ model: model.modelName, input: { text: model.input }, generate: WORDS_TO_WRITE }),
    },
    { id: 'app.input', keys: ['i'], run: () => document.querySelector<HTMLInputElement>('#fovea-input')?.focus() },
    { id: 'app.home', run: () => model.go({ page: 'home' }) },
    { id: 'app.text', unless: noRun, run: () => model.go({ page: 'text' }) },
    { id: 'app.map', unless: noRun, run: () => model.go({ page: 'map' }) },
    ...TEXT_VIEWS.map((view, at) => ({ id: `view.${view}`, keys: [`v ${at + 1}`], unless: noRun, run: () => model.go({ page: 'text', view }) })),
    { id: 'view.flip', keys: ['r'], unless: noRun, run: () => model.go(flipped(model)) },
    { id: 'view.layer.next', keys: [']'], unless: noRun, run: () => layer(1) },
    { id: 'view.layer.before', keys: ['['], unless: noRun, run: () => layer(-1) },
    { id: 'view.head.next', keys: ['.'], unless: noRun, run: () => head(1) },
    { id: 'view.head.before', keys: [','], unless: noRun, run: () => head(-1) },
    { id: 'view.head.mean', keys: ['m'], unless: noRun, run: () => model.go({ head: model.place.head === 'mean' ? 0 : 'mean' }) },
    { id: 'view.head.max', keys: ['x'], unless: noRun, run: () => model.go({ head: model.place.head === 'max' ? 0 : 'max' }) },
    { id: 'view.head.one', keys: ['0'], unless: noRun, run: () => model.go({ head: 0 }) },
    { id: 'view.sinks', keys: ['h'], unless: noRun, run: () => model.go({ hideSinks: !model.place.hideSinks }) },
    { id: 'view.play', keys: ['Space'], unless: noRun, run: play },
    {
      id: 'view.unpin', keys: ['Escape'], everywhere: true,
      run: () => {
        stop();
        if (model.dialog) model.dialog = '';
        else if (model.job) model.cancel();
        else if (model.place.row !== null || model.place.col !== null || model.place.more.length > 0) model.go({ row: null, col: null, more: [] });
        else model.hover = null;
      },
    },
    { id: 'view.goto', keys: ['g', '/'], unless: noRun, run: () => (model.dialog = 'goto') },
  ];
}

/** Row to column and back; the word that counts stays the same where both sides have the same words. */
function flipped(model: Model) {
  const { column, row, col } = model.place;
  const site = model.site;
  const same = site && site.rows === site.cols && site.rowAxis === site.colAxis;
  return same ? { column: !column, row: col, col: row } : { column: !column };
}

export async function copy(model: Model, text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    model.say(said);
  } catch (error) {
    model.failed(error);
  }
}
