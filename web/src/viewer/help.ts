import { make } from './dom';

const KEYS: [string, string][] = [
  ['arrows', 'move the chosen cell, word, patch or head; with Shift ten at a time'],
  ['[  ]', 'layer before, layer after'],
  [',  .   or   {  }', 'head before, head after'],
  ['m  x', 'mean, maximum of all heads'],
  ['r', 'row ↔ column'],
  ['Esc', 'unpin, close'],
  ['v  or  1 2 3', 'next view; read or picture, matrix, heads'],
  ['+  −  0', 'larger, smaller, all of the map'],
  ['c', 'next colour map'],
  ['e', 'colours of the weight, or of how many times it is what even attention gives'],
  ['g', 'colours linear, by square root, logarithmic'],
  ['u', 'colours up to the largest weight of what is shown, or the same for all maps'],
  ['t', 'light, dark, as the system says'],
  ['?', 'this list'],
];

/** The list of keys, and what one sees; `shortcuts` switches single keys on and off. */
export function makeHelp(note: string, shortcuts: (on: boolean) => void): HTMLDialogElement {
  const toggle = make('input', { type: 'checkbox', checked: true });
  toggle.addEventListener('change', () => shortcuts(toggle.checked));
  const close = make('button', { type: 'button' }, 'Close');
  const dialog = make(
    'dialog',
    { class: 'help', 'aria-label': 'Help' },
    make('h2', {}, 'What you see'),
    make(
      'p',
      {},
      'For every position (a row) the model spreads a weight of 1 over the positions it may look at (the columns). A row shows what a word attends to; a column shows who attends to a word, and may sum to anything. A weight says where this head reads from, not why the model answers as it does.',
    ),
    make('p', {}, note),
    make('h2', {}, 'Keys'),
    make('table', {}, make('tbody', {}, ...KEYS.map(([keys, text]) => make('tr', {}, make('th', { scope: 'row' }, make('kbd', {}, keys)), make('td', {}, text))))),
    make('p', {}, make('label', {}, toggle, ' single-key shortcuts')),
    close,
  );
  close.addEventListener('click', () => dialog.close());
  return dialog;
}
