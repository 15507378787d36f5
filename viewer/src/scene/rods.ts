// Many thin rods in one draw: springs, cables, axes, arrows. Their number changes from frame to frame.

import { BufferGeometry, Color, DynamicDrawUsage, InstancedMesh, Material, Matrix4 } from "three";

export class Rods {
  mesh: InstancedMesh;
  private used = 0;

  constructor(private readonly geometry: BufferGeometry, private readonly material: Material, room = 16) {
    this.mesh = this.make(room);
  }

  private make(room: number): InstancedMesh {
    const mesh = new InstancedMesh(this.geometry, this.material, room);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.count = 0;
    mesh.setColorAt(0, new Color());
    return mesh;
  }

  begin(): void {
    this.used = 0;
  }

  add(matrix: Matrix4, color: Color): void {
    if (this.used === this.mesh.instanceMatrix.count) this.grow();
    this.mesh.setMatrixAt(this.used, matrix);
    this.mesh.setColorAt(this.used, color);
    this.used++;
  }

  private grow(): void {
    const old = this.mesh;
    const mesh = this.make(2 * old.instanceMatrix.count);
    mesh.instanceMatrix.array.set(old.instanceMatrix.array);
    mesh.instanceColor!.array.set(old.instanceColor!.array);
    mesh.castShadow = old.castShadow;
    mesh.visible = old.visible;
    old.parent?.add(mesh);
    old.removeFromParent();
    old.dispose();
    this.mesh = mesh;
  }

  end(): void {
    this.mesh.count = this.used;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor!.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.dispose();
    this.geometry.dispose();
    this.material.dispose();
  }
}
