import type { HeadName } from '../core/captions';
import { evenShares, MapBins } from '../core/bins';
import { decodeMap, fromBase64, inflate, mergeMaps, thumbnailBlock, thumbnailShape, thumbnailShare, type DecodedMap } from '../core/codec';
import type { MapValue } from '../core/drawing';
import type { MaskInfo, PageHeader, SiteInfo } from '../core/header';

const CACHE_BYTES = 96 << 20;

function blockText(id: string): string {
  const text = document.getElementById(id)?.textContent;
  if (text === null || text === undefined) throw new Error(`the page lacks its part ${id}; write it again`);
  return text;
}

/** The maps of a page, unpacked when they are asked for and kept as long as there is room. */
export class Maps {
  private readonly kept = new Map<string, Promise<DecodedMap>>();
  private readonly bins = new WeakMap<DecodedMap, MapBins>();
  private readonly evens = new Map<string, Float64Array>();
  private thumbnailCodes: Uint16Array | null = null;

  constructor(private readonly header: PageHeader) {}

  get(site: number, head: HeadName): Promise<DecodedMap> {
    const key = `${site}-${head}`;
    let map = this.kept.get(key);
    this.kept.delete(key);
    map ??= this.load(site, head);
    this.kept.set(key, map); // the last used comes last
    this.forgetOldest();
    return map;
  }

  /** How a map is drawn in bins of any size. */
  binsOf(map: DecodedMap, mask: MaskInfo): MapBins {
    let bins = this.bins.get(map);
    if (!bins) this.bins.set(map, (bins = new MapBins(map, mask)));
    return bins;
  }

  /** One value per block of a head's small map, NaN where nothing is allowed. */
  thumbnail(site: number, head: number, of: MapValue): { values: Float32Array; rows: number; cols: number } {
    this.thumbnailCodes ??= shortsOf(fromBase64(blockText('fovea-thumbnails')));
    let begin = 0;
    for (const [index, info] of this.header.sites.entries()) {
      const [rows, cols] = thumbnailShape(info.rows, info.cols, this.header.encoding.thumbnailSide);
      const place = index === site ? info.heads.indexOf(head) : info.heads.length;
      begin += place * rows * cols;
      if (index !== site) continue;
      const values = Float32Array.from(this.thumbnailCodes.subarray(begin, begin + rows * cols), thumbnailShare);
      const even = of === 'times-even' ? this.evenOf(info) : null;
      return { values: even ? values.map((share, i) => share / (even[i] as number)) : values, rows, cols };
    }
    throw new Error(`there is no site ${site}`);
  }

  /** What even attention gives to each block of a small map. */
  private evenOf({ mask, rows, cols }: SiteInfo): Float64Array {
    const key = [mask, rows, cols].join(' ');
    let even = this.evens.get(key);
    if (!even) {
      const block = (size: number) => thumbnailBlock(size, this.header.encoding.thumbnailSide);
      this.evens.set(key, (even = evenShares(this.header.masks[mask] as MaskInfo, rows, cols, block(rows), block(cols))));
    }
    return even;
  }

  /** What lies under the grids of axes. */
  async picture(): Promise<ImageBitmap> {
    return createImageBitmap(new Blob([fromBase64(blockText('fovea-picture'))], { type: 'image/png' }));
  }

  private async load(site: number, head: HeadName): Promise<DecodedMap> {
    const info = this.header.sites[site] as SiteInfo;
    if (typeof head !== 'number') {
      return mergeMaps(await Promise.all(info.heads.map((each) => this.get(site, each))), head);
    }
    const bytes = await inflate(fromBase64(blockText(`fovea-map-${site}-${head}`)));
    return decodeMap(bytes, info, this.header.masks[info.mask] as MaskInfo);
  }

  private forgetOldest(): void {
    let bytes = 0;
    for (const key of [...this.kept.keys()].reverse()) {
      const info = this.header.sites[Number(key.split('-')[0])] as SiteInfo;
      bytes += 2 * info.rows * info.cols;
      if (bytes > CACHE_BYTES && key !== [...this.kept.keys()].at(-1)) this.kept.delete(key);
    }
  }
}

function shortsOf(bytes: Uint8Array): Uint16Array {
  return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => (bytes[2 * i] as number) | ((bytes[2 * i + 1] as number) << 8));
}
