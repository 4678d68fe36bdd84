/** The same on a GPU: codes as a texture of whole numbers, the table as another, one texel fetched from each. No arithmetic on colours. */
import type { Lut } from './lut';
import type { Painter, Placed } from './paint';

const VERTEX = `#version 300 es
uniform vec4 box;
uniform vec2 size;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  vec2 at = (box.xy + corner * box.zw) / size * 2.0 - 1.0;
  gl_Position = vec4(at.x, -at.y, 0, 1);
}`;

// Places are counted from the tile's corner in whole pixels: exact at any zoom.
const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp usampler2D;
uniform usampler2D codes;
uniform sampler2D table;
uniform ivec2 corner;
uniform int cell;
uniform int height;
out vec4 color;
void main() {
  ivec2 at = ivec2(int(gl_FragCoord.x), height - 1 - int(gl_FragCoord.y)) - corner;
  int code = int(texelFetch(codes, at / cell, 0).r);
  color = texelFetch(table, ivec2(code & 255, code >> 8), 0);
}`;

const KEPT_TEXTURES = 96;

function compile(gl: WebGL2RenderingContext, kind: number, source: string): WebGLShader {
  const shader = gl.createShader(kind);
  if (!shader) throw new Error('no shader');
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  return shader;
}

export class GlPainter implements Painter {
  readonly name = 'GPU';
  private readonly program: WebGLProgram;
  private readonly table: WebGLTexture;
  private readonly textures = new Map<Uint16Array<ArrayBufferLike>, WebGLTexture>();
  private lut: Lut | null = null;
  private readonly at: Record<'box' | 'size' | 'corner' | 'cell' | 'height', WebGLUniformLocation | null>;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    const program = gl.createProgram();
    gl.attachShader(program, compile(gl, gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, compile(gl, gl.FRAGMENT_SHADER, FRAGMENT));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? 'the program does not link');
    this.program = program;
    const place = (name: string) => gl.getUniformLocation(program, name);
    this.at = { box: place('box'), size: place('size'), corner: place('corner'), cell: place('cell'), height: place('height') };
    gl.useProgram(program);
    gl.uniform1i(place('codes'), 0);
    gl.uniform1i(place('table'), 1);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.table = this.texture(gl.TEXTURE1);
  }

  /** Throws where the browser has no WebGL 2. */
  static on(canvas: HTMLCanvasElement): GlPainter {
    const gl = canvas.getContext('webgl2', { alpha: false, antialias: false, depth: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error('no WebGL 2');
    return new GlPainter(canvas, gl);
  }

  resize(width: number, height: number): void {
    this.canvas.width = width;
    this.canvas.height = height;
  }

  paint(tiles: readonly Placed[], lut: Lut, ground: number): void {
    const { gl, canvas } = this;
    if (gl.isContextLost()) return;
    if (this.lut !== lut) {
      gl.activeTexture(gl.TEXTURE1);
      gl.bindTexture(gl.TEXTURE_2D, this.table);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 256, 0, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(lut.buffer));
      this.lut = lut;
    }
    gl.viewport(0, 0, canvas.width, canvas.height);
    const [red, green, blue] = new Uint8Array(new Uint32Array([ground]).buffer) as unknown as [number, number, number];
    gl.clearColor(red / 255, green / 255, blue / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2f(this.at.size, canvas.width, canvas.height);
    gl.uniform1i(this.at.height, canvas.height);
    gl.activeTexture(gl.TEXTURE0);
    for (const tile of tiles) this.draw(tile);
    this.forget(tiles);
  }

  private draw(tile: Placed): void {
    const { gl } = this;
    let texture = this.textures.get(tile.codes);
    if (texture) {
      gl.bindTexture(gl.TEXTURE_2D, texture);
    } else {
      texture = this.texture(gl.TEXTURE0);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16UI, tile.width, tile.height, 0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, tile.codes);
      this.textures.set(tile.codes, texture);
    }
    gl.uniform4f(this.at.box, tile.left, tile.top, tile.width * tile.cell, tile.height * tile.cell);
    gl.uniform2i(this.at.corner, tile.left, tile.top);
    gl.uniform1i(this.at.cell, tile.cell);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  private texture(unit: number): WebGLTexture {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.activeTexture(unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    return texture;
  }

  /** Oldest first, never one that was just drawn. */
  private forget(drawn: readonly Placed[]): void {
    if (this.textures.size <= KEPT_TEXTURES) return;
    const needed = new Set(drawn.map(({ codes }) => codes));
    for (const [codes, texture] of this.textures) {
      if (this.textures.size <= KEPT_TEXTURES) break;
      if (needed.has(codes)) continue;
      this.gl.deleteTexture(texture);
      this.textures.delete(codes);
    }
  }

  dispose(): void {
    for (const texture of this.textures.values()) this.gl.deleteTexture(texture);
    this.textures.clear();
    this.gl.getExtension('WEBGL_lose_context')?.loseContext();
  }
}

/** Whether drawing is done by a program in place of a GPU, which is slower than the table on the CPU. */
export function isSoftware(gl: WebGL2RenderingContext): boolean {
  const about = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /SwiftShader|llvmpipe|softpipe|Software|Microsoft Basic/i.test(name);
}
