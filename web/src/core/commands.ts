/** Everything that can be done has a stable id: keys, the palette, tests and notebooks use the same ones. */

export interface Command {
  id: string;
  /** Keys as `keyOf` writes them; the first is shown. */
  keys?: readonly string[];
  /** Acts everywhere, also while nothing of a view has the focus. */
  everywhere?: boolean;
  /** Why it cannot be done now; empty: it can. */
  unless?(): string;
  run(argument?: string): void;
}

/** "Ctrl+K", "Shift+ArrowUp", "r", "?": letters as typed, without Shift where it is in the letter. */
export function keyOf(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>): string {
  const single = event.key.length === 1;
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  if (event.shiftKey && (!single || event.ctrlKey || event.metaKey)) parts.push('Shift');
  const key = event.key === ' ' ? 'Space' : parts.includes('Ctrl') && single ? event.key.toUpperCase() : event.key;
  return [...parts, key].join('+');
}

export class Commands {
  private readonly all = new Map<string, Command>();
  private bindings = new Map<string, string>();
  private prefix = '';
  /** Single letters can be switched off, as people need who speak to their computer. */
  singleKeys = true;

  constructor(private readonly changes: Record<string, string> = {}) {}

  add(...commands: Command[]): () => void {
    for (const command of commands) {
      if (this.all.has(command.id)) throw new Error(`there are two commands ${command.id}`);
      this.all.set(command.id, command);
    }
    this.bind();
    return () => {
      for (const { id } of commands) this.all.delete(id);
      this.bind();
    };
  }

  list(): Command[] {
    return [...this.all.values()];
  }

  has(id: string): boolean {
    return this.all.has(id);
  }

  /** Empty if it was done, else why not. */
  run(id: string, argument?: string): string {
    const command = this.all.get(id);
    if (!command) return `there is no command ${id}`;
    const reason = command.unless?.() ?? '';
    if (!reason) command.run(argument);
    return reason;
  }

  keysOf(command: Command): readonly string[] {
    const own = this.changes[command.id];
    return own !== undefined ? (own ? [own] : []) : (command.keys ?? []);
  }

  /** Another key for a command; empty: none. */
  rebind(id: string, key: string): void {
    this.changes[id] = key;
    this.bind();
  }

  /** Whether the key did something. */
  press(key: string, inView: boolean): boolean {
    const chord = this.prefix ? `${this.prefix} ${key}` : key;
    this.prefix = '';
    const id = this.bindings.get(chord) ?? this.bindings.get(key);
    const command = id === undefined ? undefined : this.all.get(id);
    if (command) {
      if (!command.everywhere && !inView) return false;
      if (!this.singleKeys && /^.$/u.test(key)) return false;
      return this.run(command.id) === '';
    }
    if (inView && [...this.bindings.keys()].some((each) => each.startsWith(`${key} `))) {
      this.prefix = key;
      return true;
    }
    return false;
  }

  private bind(): void {
    this.bindings = new Map();
    for (const command of this.all.values()) for (const key of this.keysOf(command)) this.bindings.set(key, command.id);
  }
}

/** How well a name answers what was typed: every letter in its order, beginnings of words first; -1 if not at all. */
export function matchScore(query: string, name: string): number {
  const wanted = query.trim().toLowerCase();
  const text = name.toLowerCase();
  if (!wanted) return 0;
  const whole = text.indexOf(wanted);
  if (whole >= 0) return 1000 - whole - (whole > 0 && /\S/.test(text[whole - 1] as string) ? 200 : 0);
  let at = 0;
  let score = 0;
  for (const letter of wanted) {
    const found = text.indexOf(letter, at);
    if (found < 0) return -1;
    score += found === 0 || text[found - 1] === ' ' ? 8 : found === at ? 4 : 0;
    at = found + 1;
  }
  return score;
}
