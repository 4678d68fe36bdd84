/** What can be done in the views of a text. */
import type { Command } from '../../core/commands';
import { COLOR_NAMES } from '../../core/tables';
import { fill, words } from '../../words/words';
import { copy } from '../commands';
import type { Model } from '../model.svelte';
import { findNext } from '../panels/go_to';
import type { TextState } from './text_state.svelte';

export function textCommands(model: Model, state: TextState): Command[] {
  const matrix = () => model.place.view === 'matrix';
  const inside = (at: number, count: number) => Math.max(0, Math.min(count - 1, at));
  const step = (across: number, down: number) => () => {
    const { column } = model.place;
    if (matrix()) {
      const row = (model.hover ? state.hoverRow : state.pinRow) ?? 0;
      const col = (model.hover ? state.hoverCol : state.pinCol) ?? 0;
      const started = model.hover !== null || state.pinRow !== null;
      state.point(inside(row + (started ? down : 0), state.rowWords.length), inside(col + (started ? across : 0), state.colWords.length));
      return;
    }
    const words = column ? state.colWords : state.rowWords;
    const now = state.chosen;
    const next = now === null ? 0 : inside(now + across + down, words.length);
    if (column) state.point(null, next);
    else state.point(next, null);
  };
  const moves: [string, string, number, number][] = [['left', 'ArrowLeft', -1, 0], ['right', 'ArrowRight', 1, 0], ['up', 'ArrowUp', 0, -1], ['down', 'ArrowDown', 0, 1]];
  const next = async (back: boolean) => {
    const wrong = await findNext(model, back);
    if (wrong) model.say(wrong);
  };
  return [
    ...moves.flatMap(([name, key, across, down]) => [
      { id: `view.${name}`, keys: [key], run: step(across, down) },
      { id: `view.${name}.far`, keys: [`Shift+${key}`], run: step(10 * across, 10 * down) },
    ]),
    {
      id: 'view.pin', keys: ['Enter'],
      run: () => {
        if (matrix() && state.hoverRow !== null && state.hoverCol !== null) state.pinCell(state.hoverRow, state.hoverCol);
        else if (state.chosen !== null) void state.pin(state.chosen, false);
      },
    },
    { id: 'view.words', keys: ['j'], run: () => model.go({ words: !model.place.words }) },
    { id: 'view.curve', keys: ['l'], run: () => model.go({ curve: model.place.curve === 'sqrt' ? '' : 'sqrt' }) },
    { id: 'view.colors', keys: ['c'], run: () => model.go({ colors: COLOR_NAMES[(COLOR_NAMES.indexOf((model.place.colors || 'inferno') as 'inferno') + 1) % COLOR_NAMES.length] ?? '' }) },
    { id: 'view.find.next', keys: ['n'], run: () => void next(false) },
    { id: 'view.find.before', keys: ['N'], run: () => void next(true) },
    {
      id: 'view.copy', keys: ['Ctrl+C'],
      run: () => {
        const { column } = model.place;
        const words_ = column ? state.colWords : state.rowWords;
        const others = column ? state.rowWords : state.colWords;
        if (state.chosen === null) return;
        const text = `${words_[state.chosen]?.name ?? ''}: ${state.tops.slice(0, 3).map(({ index, weight }) => `${others[index]?.name ?? ''} ${weight.toFixed(3)}`).join(', ')}`;
        void copy(model, text, fill(words.states.copiedCell, { text }));
      },
    },
  ];
}
