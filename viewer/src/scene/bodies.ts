// The bodies: one instanced mesh for each kind of shape, so that thousands cost a few draws.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DynamicDrawUsage, Group, InstancedMesh, Intersection,
  Matrix4, MeshStandardMaterial, Object3D, Raycaster, SRGBColorSpace, SphereGeometry, Vector3,
} from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { Mesh as MeshData, Pose, Shape } from "../data/format";
import { Recording } from "../data/recording";
import { Tree } from "../data/tree";
import { Theme, bodyColor } from "./palette";
import { bodyMatrix, poseMatrix, rodMatrix, vector } from "./poses";

/** A piece of a shape: a capsule has three. */
interface Piece {
  geometry: string;
  body: number;
  local: Matrix4;
  color: Color;
  /** A plane without a colour: it has that of the floor. */
  floor?: boolean;
}

const IDENTITY: Pose = [0, 0, 0, 0, 0, 0, 1];
const HIDDEN = new Matrix4().makeScale(0, 0, 0);

function piecesOf(shape: Shape, body: number, color: Color): Piece[] {
  const at = shape.at ?? IDENTITY;
  const make = (geometry: string, local: Matrix4): Piece => ({ geometry, body, local, color });
  const placed = (geometry: string, scale: Vector3): Piece => make(geometry, poseMatrix(at, scale, new Matrix4()));
  const r = shape.radius ?? 0;
  switch (shape.type) {
    case "box":
      return [placed("box", vector(shape.size ?? [0, 0, 0]))];
    case "sphere":
      return [placed("sphere", new Vector3(r, r, r))];
    case "ellipsoid":
      return [placed("sphere", vector(shape.radii ?? [0, 0, 0]))];
    case "cylinder":
    case "capsule": {
      const a = vector(shape.from ?? [0, 0, 0]);
      const b = vector(shape.to ?? [0, 0, 0]);
      const rod = make("cylinder", rodMatrix(a, b, r, new Matrix4()));
      if (shape.type === "cylinder") return [rod];
      const ball = (p: Vector3): Piece => make("sphere", new Matrix4().makeScale(r, r, r).setPosition(p));
      return [{ ...rod, geometry: "tube" }, ball(a), ball(b)];
    }
    case "plane": {
      const e = shape.extent ?? 1;
      return [make("box", poseMatrix(at, new Vector3(1, 1, 1), new Matrix4()).multiply(new Matrix4().makeScale(e, e, 1e-4 * e).setPosition(0, 0, -5e-5 * e)))];
    }
    case "convex":
    case "height_field":
    case "mesh": {
      const s = shape.scale ?? 1;
      return [placed(`mesh ${shape.mesh ?? 0}`, new Vector3(s, s, s))];
    }
    default: // a kind of a later version
      return [];
  }
}

function meshGeometry(mesh: MeshData | undefined): BufferGeometry {
  const geometry = new BufferGeometry();
  if (!mesh) return geometry;
  geometry.setAttribute("position", new BufferAttribute(mesh.vertices, 3));
  geometry.setIndex(new BufferAttribute(mesh.triangles, 1));
  return toCreasedNormals(geometry, 0.6);
}

/** Round things have fewer sides where there are many: about a million triangles at most, however many bodies. */
export function roundness(count: number): number {
  return count < 100 ? 28 : count < 500 ? 20 : count < 2500 ? 14 : 8;
}

function makeGeometry(name: string, meshes: readonly MeshData[], count: number): BufferGeometry {
  const sides = roundness(count);
  switch (name) {
    case "box":
      return new BoxGeometry(1, 1, 1);
    case "sphere":
      return new SphereGeometry(1, sides, Math.round(0.6 * sides));
    case "cylinder":
      return new CylinderGeometry(1, 1, 1, sides + 4);
    case "tube":
      return new CylinderGeometry(1, 1, 1, sides, 1, true);
    default:
      return meshGeometry(meshes[Number(name.split(" ")[1])]);
  }
}

interface Batch {
  mesh: InstancedMesh;
  pieces: Piece[];
}

export interface Hit {
  body: number;
  /** In the recording's coordinates. */
  point: Vector3;
}

export class Bodies {
  readonly group = new Group();
  private readonly batches: Batch[] = [];
  private shown: boolean[];
  private selected = -1;
  private accent = new Color();
  private floor = new Color();
  private readonly material = new MeshStandardMaterial({ roughness: 0.62, metalness: 0.04 });

  constructor(recording: Recording, tree: Tree) {
    const pieces = new Map<string, Piece[]>();
    this.shown = recording.header.bodies.map(() => true);
    recording.header.bodies.forEach((body, k) => {
      for (const shape of body.shapes) {
        const color = shape.color
          ? new Color().setRGB(...shape.color, SRGBColorSpace)
          : bodyColor(tree, k, new Color());
        for (const piece of piecesOf(shape, k, color)) {
          piece.floor = shape.type === "plane" && !shape.color;
          if (!pieces.has(piece.geometry)) pieces.set(piece.geometry, []);
          pieces.get(piece.geometry)!.push(piece);
        }
      }
    });
    for (const [name, list] of pieces) {
      const mesh = new InstancedMesh(makeGeometry(name, recording.meshes, list.length), this.material, list.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false; // its bounds would have to be found anew in each frame
      this.batches.push({ mesh, pieces: list });
      this.group.add(mesh);
    }
    this.paint();
  }

  setTheme(theme: Theme): void {
    this.accent.set(theme.accent);
    this.floor.set(theme.floor);
    this.paint();
  }

  /** -1: none. */
  select(body: number): void {
    this.selected = body;
    this.paint();
  }

  show(visible: boolean[]): void {
    this.shown = visible;
  }

  private paint(): void {
    const color = new Color();
    for (const { mesh, pieces } of this.batches) {
      pieces.forEach((piece, k) => {
        color.copy(piece.floor ? this.floor : piece.color);
        if (piece.body === this.selected) color.lerp(this.accent, 0.75);
        mesh.setColorAt(k, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  update(poses: Float32Array): void {
    const body = new Matrix4();
    const matrix = new Matrix4();
    for (const { mesh, pieces } of this.batches) {
      let last = -2;
      pieces.forEach((piece, k) => {
        if (!this.shown[piece.body]) {
          mesh.setMatrixAt(k, HIDDEN);
          return;
        }
        if (piece.body !== last) bodyMatrix(poses, piece.body, body);
        last = piece.body;
        mesh.setMatrixAt(k, matrix.multiplyMatrices(body, piece.local));
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // of the last frame; picking finds it anew
    }
  }

  pick(ray: Raycaster): Hit | null {
    const hits: Intersection<Object3D>[] = ray.intersectObjects(this.group.children, false);
    const first = hits.find((hit) => hit.instanceId !== undefined);
    if (!first) return null;
    const batch = this.batches.find(({ mesh }) => mesh === first.object)!;
    return {
      body: batch.pieces[first.instanceId!].body,
      point: this.group.worldToLocal(first.point.clone()),
    };
  }

  dispose(): void {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
    this.material.dispose();
  }
}
