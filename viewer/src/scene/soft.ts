// Soft surfaces: their vertices come with each frame.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial } from "three";
import { Recording } from "../data/recording";
import { Frame } from "../data/format";

export class Soft {
  readonly group = new Group();
  private readonly meshes: Mesh<BufferGeometry, MeshStandardMaterial>[] = [];

  constructor(recording: Recording) {
    for (const { mesh } of recording.header.soft) {
      const data = recording.meshes[mesh];
      const geometry = new BufferGeometry();
      if (data) {
        geometry.setAttribute("position", new BufferAttribute(data.vertices.slice(), 3).setUsage(DynamicDrawUsage));
        geometry.setIndex(new BufferAttribute(data.triangles, 1));
      }
      const surface = new Mesh(geometry, new MeshStandardMaterial({ color: "#e0a08c", roughness: 0.7 }));
      surface.castShadow = surface.receiveShadow = true;
      surface.frustumCulled = false;
      this.meshes.push(surface);
      this.group.add(surface);
    }
  }

  update(frame: Frame): void {
    for (const [which, vertices] of frame.soft) {
      const geometry = this.meshes[which]?.geometry;
      const position = geometry?.getAttribute("position") as BufferAttribute | undefined;
      if (!position || position.array.length !== vertices.length) continue;
      position.array.set(vertices);
      position.needsUpdate = true;
      geometry.computeVertexNormals();
    }
  }

  dispose(): void {
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
  }
}
