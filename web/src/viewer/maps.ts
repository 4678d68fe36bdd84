import type { HeadName } from '../core/captions';
import { decodeMap, fromBase64, inflate, mergeMaps, thumbnailShape, type DecodedMap } from '../core/codec';
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
  private thumbnailBytes: Uint8Array | null = null;

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

  /** One byte per block of a head's thumbnail. */
  thumbnail(site: number, head: number): { bytes: Uint8Array; rows: number; cols: number } {
    this.thumbnailBytes ??= fromBase64(blockText('fovea-thumbnails'));
    let begin = 0;
    for (const [index, info] of this.header.sites.entries()) {
      const [rows, cols] = thumbnailShape(info.rows, info.cols, this.header.encoding.thumbnailSide);
      const place = index === site ? info.heads.indexOf(head) : info.heads.length;
      begin += place * rows * cols;
      if (index === site) return { bytes: this.thumbnailBytes.subarray(begin, begin + rows * cols), rows, cols };
    }
    throw new Error(`there is no site ${site}`);
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
