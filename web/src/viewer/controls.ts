import type { HeadName } from '../core/captions';
import type { PageHeader } from '../core/header';
import { VIEWS, type ViewName } from '../core/state';
import { button, make, select, setChoices } from './dom';
import type { Command } from './keyboard';
import type { Wishes } from './legend';
import { pictureAxis, type Scene } from './scene';

const VIEW_NAMES: Record<ViewName, string> = { read: 'Read', matrix: 'Matrix', heads: 'Heads' };

/** Everything above the caption. */
export class Controls {
  readonly views = make('nav', { class: 'views', 'aria-label': 'View' });
  readonly tools = make('div', { class: 'tools' });
  readonly bar = make('div', { class: 'bar', role: 'toolbar', 'aria-label': 'What is shown' });
  private readonly viewButtons: Record<ViewName, HTMLButtonElement>;
  private readonly kind: HTMLSelectElement;
  private readonly layer: HTMLSelectElement;
  private readonly head: HTMLSelectElement;
  private readonly colors: HTMLSelectElement;
  private readonly rowButton: HTMLButtonElement;
  private readonly columnButton: HTMLButtonElement;
  private readonly zoom: HTMLElement;
  private readonly theme: HTMLButtonElement;
  private scene: Scene | null = null;

  constructor(
    private readonly header: PageHeader,
    wishes: Wishes,
  ) {
    const viewButton = (view: ViewName) => button(VIEW_NAMES[view], `${VIEW_NAMES[view]} (${VIEWS.indexOf(view) + 1})`, () => wishes.change({ view }));
    this.viewButtons = { read: viewButton('read'), matrix: viewButton('matrix'), heads: viewButton('heads') };
    this.views.append(...VIEWS.map((view) => this.viewButtons[view]));
    this.kind = select('kind of attention', (kind) => wishes.change({ site: this.siteOf(kind, this.scene?.site.layer ?? 0) }));
    this.layer = select('layer', (layer) => wishes.change({ site: this.siteOf(this.scene?.site.kind ?? '', Number(layer)) }));
    this.head = select('head', (head) => wishes.change({ head: (head === 'mean' || head === 'max' ? head : Number(head)) as HeadName }));
    this.colors = select('colours', (colors) => wishes.change({ colors }));
    const flipTo = (column: boolean) => () => {
      if (this.scene && this.scene.state.column !== column) wishes.run('flip');
    };
    this.rowButton = button('Row →', 'what it attends to (r flips)', flipTo(false));
    this.columnButton = button('Column ←', 'who attends to it (r flips)', flipTo(true));
    this.zoom = make(
      'span',
      { class: 'segments zoom', role: 'group', 'aria-label': 'Zoom' },
      withLabel(button('−', 'smaller (−)', () => wishes.run('smaller')), 'smaller'),
      button('whole map', 'all of the map (0)', () => wishes.run('fit')),
      withLabel(button('+', 'larger: smaller bins, then cells (+)', () => wishes.run('larger')), 'larger'),
    );
    this.theme = button('', 'light or dark (t)', () => wishes.run('theme'));
    this.tools.append(this.theme, button('?', 'help and keys (?)', () => wishes.run('help')));
    const stepper = (label: string, control: HTMLElement, before: Command, after: Command, keys: [string, string]) =>
      make(
        'span',
        { class: 'stepper' },
        make('span', { class: 'name' }, label),
        withLabel(button('‹', `${label} before (${keys[0]})`, () => wishes.run(before)), `${label} before`),
        control,
        withLabel(button('›', `${label} after (${keys[1]})`, () => wishes.run(after)), `${label} after`),
      );
    const kinds = new Set(header.sites.map((site) => site.kind));
    if (kinds.size > 1) this.bar.append(this.kind);
    this.bar.append(
      stepper('layer', this.layer, 'layer-before', 'layer-after', ['[', ']']),
      stepper('head', this.head, 'head-before', 'head-after', [',', '.']),
      make('span', { class: 'segments', role: 'group', 'aria-label': 'Row or column' }, this.rowButton, this.columnButton),
      this.zoom,
      this.colors,
    );
  }

  update(scene: Scene): void {
    this.scene = scene;
    const { state, site, header } = scene;
    for (const view of VIEWS) {
      if (view === state.view) this.viewButtons[view].setAttribute('aria-current', 'page');
      else this.viewButtons[view].removeAttribute('aria-current');
    }
    this.viewButtons.read.textContent = pictureAxis(scene) ? 'Picture' : VIEW_NAMES.read;
    this.viewButtons.read.title = `${this.viewButtons.read.textContent} (1)`;
    const kinds = [...new Set(header.sites.map((each) => each.kind))];
    setChoices(this.kind, kinds.map((kind) => [kind, kind]), site.kind);
    const layers = header.sites.filter((each) => each.kind === site.kind).map((each) => String(each.layer));
    setChoices(this.layer, layers.map((layer) => [layer, layer]), String(site.layer));
    const heads: [string, string][] = site.heads.map((head) => [String(head), String(head)]);
    if (heads.length > 1) heads.push(['mean', `mean of ${heads.length}`], ['max', `max of ${site.heads.length}`]);
    setChoices(this.head, heads, String(state.head));
    const colors: [string, string][] = [['', 'auto colours'], ...Object.keys(header.colors).map((name): [string, string] => [name, name])];
    setChoices(this.colors, colors, state.colors);
    this.rowButton.setAttribute('aria-pressed', String(!state.column));
    this.columnButton.setAttribute('aria-pressed', String(state.column));
    this.zoom.hidden = state.view !== 'matrix';
    this.theme.textContent = state.theme === '' ? '◐' : state.theme === 'light' ? '☀' : '☾';
    this.theme.setAttribute('aria-label', `theme: ${state.theme || 'as the system says'}`);
  }

  /** The site of a kind with that layer, or with its last one. */
  private siteOf(kind: string, layer: number): number {
    const { sites } = this.header;
    const exact = sites.findIndex((site) => site.kind === kind && site.layer === layer);
    return exact >= 0 ? exact : sites.findLastIndex((site) => site.kind === kind);
  }
}

function withLabel(element: HTMLElement, label: string): HTMLElement {
  element.setAttribute('aria-label', label);
  return element;
}
