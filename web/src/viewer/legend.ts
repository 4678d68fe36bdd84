import { colorAt, cssColor } from '../core/colors';
import { MAP_VALUES, valueName, type MapValue } from '../core/drawing';
import { hasForbidden } from '../core/mask';
import { CURVES, scaleText, ticksOf, type ColorScale, type Curve } from '../core/scale';
import type { State } from '../core/state';
import { button, canvas, make } from './dom';
import type { Command } from './keyboard';
import { isLong, type Scene } from './scene';

export interface Wishes {
  change(patch: Partial<State>): void;
  run(command: Command): void;
}

const WANTED_TICKS = 5;
const CURVE_NAMES: Record<Curve, string> = { linear: 'linear', sqrt: '√', log: 'log' };
const CURVE_TITLES: Record<Curve, string> = { linear: 'linear', sqrt: 'by square root: small values show', log: 'logarithmic' };

/** Which colour is which value, and the choice of both. */
export class Legend {
  readonly element = make('section', { class: 'scale' });
  private readonly title = make('h2');
  private readonly bar = canvas('bar');
  private readonly below = make('span', { class: 'arrow below' });
  private readonly above = make('span', { class: 'arrow above' });
  private readonly ticks = make('div', { class: 'ticks' });
  private readonly note = make('p', { class: 'note' });
  private readonly forbidden = make('p', { class: 'note forbidden' }, make('span', { class: 'swatch', 'aria-hidden': 'true' }), 'not allowed by the mask');
  private readonly ofButtons: Record<MapValue, HTMLButtonElement>;
  private readonly curveButtons: Record<Curve, HTMLButtonElement>;
  private readonly range: HTMLButtonElement;
  private of: MapValue = 'weight';
  private shown = '';
  private colors: Uint8Array | null = null;

  constructor(wishes: Wishes) {
    const of = (each: MapValue, label: string, title: string) =>
      button(label, `${title} (e)`, () => {
        if (each !== this.of) wishes.run('of');
      });
    this.ofButtons = {
      weight: of('weight', 'weight', 'colours of the weight'),
      'times-even': of('times-even', 'times even', 'colours of how many times the weight is what even attention gives'),
    };
    const curve = (each: Curve) => button(CURVE_NAMES[each], `colours ${CURVE_TITLES[each]} (g)`, () => wishes.change({ curve: each }));
    this.curveButtons = { linear: curve('linear'), sqrt: curve('sqrt'), log: curve('log') };
    this.curveButtons.sqrt.setAttribute('aria-label', 'square root');
    this.range = button('', 'where the colours end (u)', () => wishes.run('range'));
    this.element.append(
      this.title,
      make('div', { class: 'barline' }, this.below, this.bar.element, this.above),
      this.ticks,
      this.note,
      this.forbidden,
      make(
        'div',
        { class: 'choices' },
        make('span', { class: 'segments', role: 'group', 'aria-label': 'What the colours are of' }, ...Object.values(this.ofButtons)),
        make('span', { class: 'segments', role: 'group', 'aria-label': 'Scale of the colours' }, ...CURVES.map((each) => this.curveButtons[each])),
        this.range,
      ),
    );
  }

  update(scene: Scene): void {
    const { state, header } = scene;
    const [drawing, scale] = state.view === 'heads' ? [scene.headsDrawing, scene.headsScale] : [scene.drawing, scene.scale];
    this.of = drawing.of;
    for (const of of MAP_VALUES) this.ofButtons[of].setAttribute('aria-pressed', String(of === drawing.of));
    for (const curve of CURVES) this.curveButtons[curve].setAttribute('aria-pressed', String(curve === drawing.curve));
    const choices = scene.ends === 'own' || scene.ends === 'shared' ? drawing.of === 'weight' : false;
    // Small multiples always share their colours; what is fixed leaves nothing to choose.
    this.range.hidden = (state.view === 'heads' || !choices) && !header.start.range;
    this.range.textContent = `ends: ${{ asked: 'as asked', own: scene.own.replace(' on the picture', ''), shared: 'all maps', fixed: 'fixed' }[scene.ends]}`;
    const shown = [drawing.of, ...Object.values(scale), state.view, scene.ends, scene.own, scene.site.mask, scene.dark].join(' ');
    if (shown === this.shown && scene.colors === this.colors) return;
    this.shown = shown;
    this.colors = scene.colors;
    this.title.textContent = valueName(drawing.of);
    this.paintBar(scene.colors, scale);
    this.ticks.replaceChildren(...ticksOf(scale, WANTED_TICKS).map(tickMark));
    this.note.textContent = noteOf(scene, scale);
    this.forbidden.hidden = !hasForbidden(scene.mask, scene.site.rows, scene.site.cols);
    this.forbidden.classList.toggle('plain', isLong(scene));
  }

  private paintBar(colors: Uint8Array, scale: ColorScale): void {
    const { element, context } = this.bar;
    element.width = 256;
    element.height = 1;
    for (let x = 0; x < 256; ++x) {
      context.fillStyle = cssColor(colorAt(colors, x / 255));
      context.fillRect(x, 0, 1, 1);
    }
    const arrow = (mark: HTMLElement, shown: boolean, place: number, text: string) => {
      mark.classList.toggle('shown', shown);
      mark.style.background = cssColor(colorAt(colors, place));
      mark.title = shown ? text : '';
    };
    arrow(this.below, scale.below, 0, `some lie below ${scaleText(scale, scale.low)}`);
    arrow(this.above, scale.above, 1, `some lie above ${scaleText(scale, scale.high)}`);
  }
}

function tickMark({ place, text, strong }: { place: number; text: string; strong: boolean }): HTMLElement {
  const mark = make('span', { class: strong ? 'strong' : '' }, text);
  mark.style.insetInlineStart = `${100 * place}%`;
  // At the ends a number stands within the bar.
  mark.style.transform = `translateX(${place < 0.04 ? 0 : place > 0.96 ? -100 : -50}%)`;
  return mark;
}

function noteOf(scene: Scene, scale: ColorScale): string {
  const ends = {
    asked: 'ends as the page was asked for',
    fixed: 'the same in every map',
    own: `up to the largest ${scale.timesEven ? '' : 'weight '}of ${scene.own}`,
    shared: 'the same for all maps',
  };
  const of = scene.state.view === 'heads' && scene.ends === 'own' ? 'shared' : scene.ends;
  return `${ends[of]}${scale.above || scale.below ? '; arrows: some lie beyond' : ''}`;
}
