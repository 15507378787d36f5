// Soft surfaces: their vertices come with each frame.

import { BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial } from "three";
import { Recording } from "../data/recording";
import { Frame } from "../data/format";

/** out = unit normals of the vertices: the sums of their triangles' areas. Plain loops, for they run over 60,000 triangles a picture. */
export function vertexNormals(x: ArrayLike<number>, triangles: ArrayLike<number>, out: Float32Array): void {
  out.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
    const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    out[a] += nx; out[a + 1] += ny; out[a + 2] += nz;
    out[b] += nx; out[b + 1] += ny; out[b + 2] += nz;
    out[c] += nx; out[c + 1] += ny; out[c + 2] += nz;
  }
  for (let k = 0; k < out.length; k += 3) {
    const n = Math.sqrt(out[k] * out[k] + out[k + 1] * out[k + 1] + out[k + 2] * out[k + 2]) || 1;
    out[k] /= n; out[k + 1] /= n; out[k + 2] /= n;
  }
}

interface Surface {
  mesh: Mesh<BufferGeometry, MeshStandardMaterial>;
  position: BufferAttribute;
  normal: BufferAttribute;
  triangles: Uint32Array;
  /** What it shows now. */
  shown: Float32Array | null;
}

export class Soft {
  readonly group = new Group();
  private readonly surfaces: (Surface | null)[];

  constructor(recording: Recording) {
    this.surfaces = recording.header.soft.map(({ mesh }) => (recording.meshes[mesh] ? makeSurface(recording.meshes[mesh]) : null));
    for (const surface of this.surfaces) if (surface) this.group.add(surface.mesh);
  }

  update(frame: Frame): void {
    for (const [which, vertices] of frame.soft) {
      const surface = this.surfaces[which];
      if (!surface || surface.shown === vertices || surface.position.array.length !== vertices.length) continue;
      surface.shown = vertices;
      surface.position.array.set(vertices);
      surface.position.needsUpdate = true;
      vertexNormals(vertices, surface.triangles, surface.normal.array as Float32Array);
      surface.normal.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const surface of this.surfaces) {
      surface?.mesh.geometry.dispose();
      surface?.mesh.material.dispose();
    }
  }
}

function makeSurface({ vertices, triangles }: { vertices: Float32Array; triangles: Uint32Array }): Surface {
  const geometry = new BufferGeometry();
  const position = new BufferAttribute(vertices.slice(), 3).setUsage(DynamicDrawUsage);
  const normal = new BufferAttribute(new Float32Array(vertices.length), 3).setUsage(DynamicDrawUsage);
  vertexNormals(vertices, triangles, normal.array as Float32Array);
  geometry.setAttribute("position", position);
  geometry.setAttribute("normal", normal);
  geometry.setIndex(new BufferAttribute(triangles, 1));
  const mesh = new Mesh(geometry, new MeshStandardMaterial({ color: "#e0a08c", roughness: 0.7, side: DoubleSide }));
  mesh.castShadow = mesh.receiveShadow = true;
  mesh.frustumCulled = false; // its bounds would have to be found anew in each frame
  return { mesh, position, normal, triangles, shown: null };
}
