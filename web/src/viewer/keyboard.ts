/** Keys as commands. A command has a stable name, so that other programs may call it too. */
export type Command =
  | 'layer-before' | 'layer-after' | 'head-before' | 'head-after' | 'head-mean' | 'head-max'
  | 'flip' | 'unpin' | 'next-view' | 'view-read' | 'view-matrix' | 'view-heads'
  | 'larger' | 'smaller' | 'fit' | 'next-colors' | 'of' | 'range' | 'curve' | 'theme' | 'help'
  | 'left' | 'right' | 'up' | 'down' | 'far-left' | 'far-right' | 'far-up' | 'far-down';

const KEYS: Record<string, Command> = {
  '[': 'layer-before', ']': 'layer-after',
  ',': 'head-before', '.': 'head-after', '{': 'head-before', '}': 'head-after',
  m: 'head-mean', x: 'head-max',
  r: 'flip', Escape: 'unpin', v: 'next-view',
  '1': 'view-read', '2': 'view-matrix', '3': 'view-heads',
  '+': 'larger', '=': 'larger', '-': 'smaller', '−': 'smaller', '0': 'fit',
  c: 'next-colors', e: 'of', u: 'range', g: 'curve', t: 'theme', '?': 'help',
};
const ARROWS: Record<string, 'left' | 'right' | 'up' | 'down'> = {
  ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down',
};

/** What a key press means, null if nothing. */
export function commandOf(event: { key: string; shiftKey: boolean; ctrlKey: boolean; metaKey: boolean; altKey: boolean }): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const arrow = ARROWS[event.key];
  if (arrow) return event.shiftKey ? `far-${arrow}` : arrow;
  return KEYS[event.key] ?? KEYS[event.key.toLowerCase()] ?? null;
}
