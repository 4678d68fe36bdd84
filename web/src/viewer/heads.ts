import { weightText } from '../core/captions';
import { colorOf } from '../core/colors';
import type { SiteInfo } from '../core/header';
import { canvas, make } from './dom';
import { forbiddenGround, type Actions, type Scene, type View } from './scene';

interface Tile {
  button: HTMLButtonElement;
  context: CanvasRenderingContext2D;
  site: number;
  head: number;
}

/** Layers down, heads across, one small map each; all on one colour scale. */
export class HeadsView implements View {
  readonly element: HTMLElement;
  private readonly grid = make('div', { class: 'grid', role: 'group' });
  private tiles: Tile[] = [];
  private built = '';
  private painted = '';
  private paintedColors: Uint8Array | null = null;
  private marked = '';

  /** `small`: beside another view. */
  constructor(
    private readonly actions: Actions,
    private readonly small: boolean,
  ) {
    this.element = make('div', { class: small ? 'heads small' : 'heads' }, this.grid);
    if (!small) {
      this.element.append(
        make('p', { class: 'note' }, 'Each square is one head: rows attend to columns. Blocks of large maps take the mean of their rows and the sum of their columns. Click to choose, double-click or Enter to open.'),
      );
    }
  }

  update(scene: Scene): void {
    this.build(scene);
    this.paint(scene);
    const { state } = scene;
    const marked = `${this.built} ${state.site} ${state.head}`;
    if (marked === this.marked) return;
    this.marked = marked;
    for (const { button, site, head } of this.tiles) {
      const chosen = site === state.site && (head === state.head || typeof state.head !== 'number');
      button.setAttribute('aria-pressed', String(chosen));
      const current = site === state.site && head === this.currentHead(scene);
      button.tabIndex = current && !this.small ? 0 : -1;
      if (current && this.small) this.reveal(button);
    }
  }

  arrow(scene: Scene, dx: number, dy: number): boolean {
    const at = this.tiles.findIndex((tile) => tile.site === scene.state.site && tile.head === this.currentHead(scene));
    const tile = this.tiles[at];
    if (!tile) return false;
    const next = this.tiles.find(
      (each) =>
        each.site === tile.site + dy &&
        this.columnOf(scene, each) === Math.min(this.columnOf(scene, tile) + dx, this.lengthOf(scene, each.site) - 1),
    );
    if (!next) return true;
    this.actions.choose(next.site, next.head);
    if (this.element.contains(document.activeElement)) next.button.focus();
    return true;
  }

  /** Scrolls within the small grid only, never the page. */
  private reveal(button: HTMLElement): void {
    const [frame, tile] = [this.element.getBoundingClientRect(), button.getBoundingClientRect()];
    if (tile.top < frame.top) this.element.scrollTop += tile.top - frame.top - 4;
    if (tile.bottom > frame.bottom) this.element.scrollTop += tile.bottom - frame.bottom + 4;
  }

  private currentHead(scene: Scene): number {
    return typeof scene.state.head === 'number' ? scene.state.head : (scene.site.heads[0] as number);
  }
  private columnOf(scene: Scene, tile: Tile): number {
    return (scene.header.sites[tile.site] as SiteInfo).heads.indexOf(tile.head);
  }
  private lengthOf(scene: Scene, site: number): number {
    return (scene.header.sites[site] as SiteInfo).heads.length;
  }

  private build(scene: Scene): void {
    if (this.built === scene.site.kind) return;
    this.built = scene.site.kind;
    this.painted = '';
    const sites = [...scene.header.sites.entries()].filter(([, site]) => site.kind === scene.site.kind);
    const across = Math.max(...sites.map(([, site]) => site.heads.length));
    const widest = sites.find(([, site]) => site.heads.length === across)?.[1] as SiteInfo;
    this.grid.style.setProperty('--across', String(across));
    // So large that all layers are seen at once where that is possible.
    this.grid.style.setProperty('--tile', `${Math.max(28, Math.min(76, Math.floor(680 / sites.length)))}px`);
    this.grid.setAttribute('aria-label', `${sites.length} layers down, ${across} heads across`);
    const cells: HTMLElement[] = [make('span', { class: 'axis corner' }, this.small ? '' : 'layer')];
    for (const head of widest.heads) cells.push(make('span', { class: 'axis' }, this.small ? '' : String(head)));
    this.tiles = [];
    for (const [index, site] of sites) {
      cells.push(make('span', { class: 'axis layer' }, String(site.layer)));
      for (let column = 0; column < across; ++column) {
        const head = site.heads[column];
        cells.push(head === undefined ? make('span') : this.tile(scene, index, site, head));
      }
    }
    this.grid.replaceChildren(...cells);
  }

  private tile(scene: Scene, index: number, site: SiteInfo, head: number): HTMLElement {
    const most = weightText(site.largest[site.heads.indexOf(head)] as number, site.levels);
    const label = `layer ${site.layer}, head ${head}, largest weight ${most}`;
    const { element, context } = canvas('');
    const { rows, cols } = scene.maps.thumbnail(index, head, 'weight');
    element.width = cols;
    element.height = rows;
    const button = make('button', { type: 'button', class: 'tile', title: label, 'aria-label': label, 'data-site': index, 'data-head': head }, element);
    button.addEventListener('click', () => this.actions.choose(index, head));
    button.addEventListener('dblclick', () => this.actions.open(index, head));
    button.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !this.small) {
        event.preventDefault();
        this.actions.open(index, head);
      }
    });
    this.tiles.push({ button, context, site: index, head });
    return button;
  }

  private paint(scene: Scene): void {
    const { headsDrawing, headsScale, colors } = scene;
    const key = [scene.site.kind, headsDrawing.of, headsScale.curve, headsScale.low, headsScale.high, scene.dark].join(' ');
    if (key === this.painted && colors === this.paintedColors) return;
    this.painted = key;
    this.paintedColors = colors;
    const ground = forbiddenGround(scene);
    for (const { context, site, head } of this.tiles) {
      const { values, rows, cols } = scene.maps.thumbnail(site, head, headsDrawing.of);
      const image = context.createImageData(cols, rows);
      values.forEach((value, i) => {
        const color = Number.isNaN(value) ? ground : colorOf(colors, headsScale, value);
        image.data.set([...color, 255], 4 * i);
      });
      context.putImageData(image, 0, 0);
    }
  }
}
