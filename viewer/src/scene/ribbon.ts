// A line through many points, some pixels wide on any screen and fading towards its beginning: lines of WebGL are one
// pixel wide, which nobody sees on a large screen.

import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, InterleavedBuffer, InterleavedBufferAttribute, Mesh,
  ShaderMaterial, Sphere, Vector2, WebGLRenderer,
} from "three";

const VERTEX = `
attribute vec3 before, after;
attribute float side, fade;
uniform vec2 screen;
uniform float width;
varying float strength;
vec4 seen(vec3 p) { return projectionMatrix * modelViewMatrix * vec4(p, 1.0); }
// Behind the eye there is no direction on the screen: the point itself stands in.
vec2 pixel(vec4 p, vec4 own) { vec4 q = p.w > 0.0 ? p : own; return q.xy / q.w * screen; }
void main() {
  strength = fade;
  gl_Position = seen(position);
  vec2 along = pixel(seen(after), gl_Position) - pixel(seen(before), gl_Position);
  float far = length(along);
  vec2 across = far > 1e-4 ? vec2(-along.y, along.x) / far : vec2(0.0);
  gl_Position.xy += across * side * width / screen * gl_Position.w;
}`;

const FRAGMENT = `
uniform vec3 color;
varying float strength;
void main() {
  gl_FragColor = vec4(color, strength);
  #include <colorspace_fragment>
}`;

/** Width in pixels of a screen so many pixels high. */
export function ribbonWidth(height: number): number {
  return Math.max(2, 0.0024 * height);
}

/** Two vertices a point; one point more at each end, so that every point has neighbours. */
export class Ribbon {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  private readonly places: InterleavedBuffer;

  constructor(private readonly count: number, color: Color) {
    this.places = new InterleavedBuffer(new Float32Array(6 * (count + 2)), 3).setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    // The same numbers three times: of the vertex, and of those of the points before and after it.
    ["before", "position", "after"].forEach((name, k) => geometry.setAttribute(name, new InterleavedBufferAttribute(this.places, 3, 6 * k)));
    const side = Float32Array.from({ length: 2 * count }, (_, k) => (k % 2 ? 1 : -1));
    const fade = Float32Array.from({ length: 2 * count }, (_, k) => (((k >> 1) + 1) / count) ** 1.5);
    geometry.setAttribute("side", new BufferAttribute(side, 1));
    geometry.setAttribute("fade", new BufferAttribute(fade, 1));
    geometry.setIndex(Array.from({ length: count - 1 }, (_, k) => [2 * k, 2 * k + 1, 2 * k + 2, 2 * k + 2, 2 * k + 1, 2 * k + 3]).flat());
    geometry.boundingSphere = new Sphere(); // it is never culled, and to find it would cost time in each picture
    const uniforms = { color: { value: color }, screen: { value: new Vector2(1, 1) }, width: { value: 2 } };
    const material = new ShaderMaterial({
      vertexShader: VERTEX, fragmentShader: FRAGMENT, uniforms, transparent: true, depthWrite: false, side: DoubleSide,
    });
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.onBeforeRender = (renderer) => {
      (renderer as WebGLRenderer).getDrawingBufferSize(uniforms.screen.value);
      uniforms.width.value = ribbonWidth(uniforms.screen.value.y);
      material.uniformsNeedUpdate = true;
    };
  }

  setPoint(k: number, p: readonly [number, number, number]): void {
    const { array } = this.places;
    // The ends are their own neighbours.
    const from = k === 0 ? 0 : k + 1;
    const to = k === this.count - 1 ? k + 2 : k + 1;
    for (let point = from; point <= to; point++) {
      for (let i = 0; i < 3; i++) array[6 * point + i] = array[6 * point + 3 + i] = p[i];
    }
  }

  /** All points are set. */
  end(): void {
    this.places.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
