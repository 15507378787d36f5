// The stage: camera, light, ground. Everything that is shown hangs in `root`, in the recording's own
// coordinates; root turns them so that up is three's y.

import {
  AmbientLight, Box3, Color, DirectionalLight, Fog, Group, HemisphereLight, Mesh, PCFShadowMap, PerspectiveCamera,
  PlaneGeometry, Scene, ShaderMaterial, ShadowMaterial, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Theme } from "./palette";

const GRID_VERTEX = `
varying vec3 world;
void main() {
  vec4 p = modelMatrix * vec4(position, 1.0);
  world = p.xyz;
  gl_Position = projectionMatrix * viewMatrix * p;
}`;

/** Lines one pixel wide at any distance (two on a screen of 2160), every tenth stronger, fading outwards. */
const GRID_FRAGMENT = `
varying vec3 world;
uniform vec3 color;
uniform float strength, cell, reach, thick;
uniform vec2 middle;
float lines(float size) {
  vec2 p = world.xz / size;
  vec2 width = fwidth(p);
  vec2 distance = abs(fract(p - 0.5) - 0.5) / (width * thick);
  float line = 1.0 - min(min(distance.x, distance.y), 1.0);
  return line * (1.0 - smoothstep(0.12, 0.5, max(width.x, width.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.15, 1.0, length(world.xz - middle) / reach);
  float a = max(0.45 * lines(cell), lines(10.0 * cell));
  gl_FragColor = vec4(color, a * strength * fade * fade);
}`;

export type View = "start" | "front" | "side" | "top";

export class Stage {
  readonly scene = new Scene();
  readonly root = new Group();
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  /** Half the diagonal of what is shown: the measure of everything that has no size of its own. */
  size = 1;
  private box = new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  private readonly hemisphere = new HemisphereLight("#ffffff", "#8c8378", 1);
  private readonly ambient = new AmbientLight("#ffffff", 0.25);
  private readonly sun = new DirectionalLight("#fff6ea", 2);
  private readonly ground: Mesh<PlaneGeometry, ShadowMaterial>;
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private wanted = true;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.request());

    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.ground = new Mesh(new PlaneGeometry(1, 1).rotateX(-Math.PI / 2), new ShadowMaterial());
    this.ground.receiveShadow = true;
    this.grid = new Mesh(
      new PlaneGeometry(1, 1).rotateX(-Math.PI / 2),
      new ShaderMaterial({
        vertexShader: GRID_VERTEX,
        fragmentShader: GRID_FRAGMENT,
        transparent: true,
        depthWrite: false,
        uniforms: {
          color: { value: new Color() },
          strength: { value: 0.3 },
          cell: { value: 1 },
          reach: { value: 10 },
          thick: { value: 1 },
          middle: { value: [0, 0] },
        },
      }),
    );
    this.grid.renderOrder = -1;
    this.scene.add(this.root, this.hemisphere, this.ambient, this.sun, this.sun.target, this.ground, this.grid);
    this.scene.fog = new Fog("#fff", 1, 2);
  }

  setTheme(theme: Theme): void {
    this.scene.background = new Color(theme.sky);
    (this.scene.fog as Fog).color.set(theme.sky);
    this.grid.material.uniforms.color.value.set(theme.grid);
    this.grid.material.uniforms.strength.value = theme.gridStrength;
    this.ground.material.opacity = theme.shadow;
    this.hemisphere.intensity = theme.ambient;
    this.sun.intensity = theme.key;
    this.request();
  }

  setUp(up: "y" | "z"): void {
    this.root.rotation.x = up === "z" ? -Math.PI / 2 : 0;
    this.root.updateMatrixWorld(true);
  }

  /** box: in the recording's coordinates. standing: the lowest point of what stands. The camera moves only if asked to. */
  fit(box: Box3, standing: number, moveCamera: boolean): void {
    this.box = box.clone().applyMatrix4(this.root.matrixWorld);
    const extent = this.box.getSize(new Vector3());
    const centre = this.box.getCenter(new Vector3());
    this.size = Math.max(extent.length() / 2, 1e-6);
    const low = this.box.min.y;
    // The ground is where something stands, or at 0 if the mechanism stays above it, or else below all.
    const above = low >= -0.02 * this.size && low < 3 * this.size;
    const stands = Math.abs(standing) < 0.02 * this.size;
    const level = above || stands ? 0 : low - 0.03 * this.size;
    for (const plane of [this.ground, this.grid]) {
      plane.position.set(centre.x, level, centre.z);
      plane.scale.setScalar(60 * this.size);
    }
    this.grid.position.y -= 0.001 * this.size;
    const { uniforms } = this.grid.material;
    uniforms.cell.value = 10 ** Math.floor(Math.log10(this.size * 0.7));
    uniforms.reach.value = 9 * this.size;
    uniforms.middle.value = [centre.x, centre.z];
    this.placeSun(centre, Math.max(this.size, centre.y - level));
    this.camera.near = this.size * 0.01;
    this.camera.far = this.size * 200;
    (this.scene.fog as Fog).near = this.size * 30;
    (this.scene.fog as Fog).far = this.size * 120;
    this.controls.minDistance = this.size * 0.05;
    this.controls.maxDistance = this.size * 40;
    this.camera.updateProjectionMatrix();
    if (moveCamera) this.look("start");
    this.request();
  }

  private placeSun(centre: Vector3, reach: number): void {
    this.sun.target.position.copy(centre);
    this.sun.position.copy(centre).add(new Vector3(0.55, 1.6, 0.75).multiplyScalar(3 * reach));
    const { camera } = this.sun.shadow;
    const half = 1.5 * reach;
    Object.assign(camera, { left: -half, right: half, top: half, bottom: -half, near: reach, far: 10 * reach });
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * reach;
    this.sun.shadow.bias = -0.0002;
  }

  /** From where a mechanism shows most of itself: across its longer side, a little from above. */
  look(view: View): void {
    const extent = this.box.getSize(new Vector3());
    const flat = extent.x >= extent.z ? [0.42, 1] : [1, 0.42];
    const direction = {
      start: new Vector3(flat[0], 0.38, flat[1]),
      front: new Vector3(0, 0, 1),
      side: new Vector3(1, 0, 0),
      top: new Vector3(0, 1, 0.0001),
    }[view].normalize();
    const centre = this.box.getCenter(new Vector3());
    this.camera.position.copy(centre).addScaledVector(direction, this.distance(direction, centre));
    this.controls.target.copy(centre);
    this.controls.update();
    this.request();
  }

  /** So far away that all corners of the box are in the picture, with a margin. */
  private distance(direction: Vector3, centre: Vector3): number {
    const up = Math.abs(direction.y) > 0.99 ? new Vector3(0, 0, -1) : new Vector3(0, 1, 0);
    const right = new Vector3().crossVectors(up, direction).normalize();
    const above = new Vector3().crossVectors(direction, right);
    const tan = Math.tan((this.camera.fov * Math.PI) / 360);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = new Vector3(
        corner & 1 ? this.box.max.x : this.box.min.x,
        corner & 2 ? this.box.max.y : this.box.min.y,
        corner & 4 ? this.box.max.z : this.box.min.z,
      ).sub(centre);
      const need = Math.max(Math.abs(p.dot(right)) / (tan * this.camera.aspect), Math.abs(p.dot(above)) / tan);
      distance = Math.max(distance, need * 1.1 + p.dot(direction));
    }
    return Math.max(distance, this.size * 0.5);
  }

  /** What the panels leave free: the middle of the picture goes there. */
  resize(width: number, height: number, free: { left: number; right: number; top: number; bottom: number }): void {
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.grid.material.uniforms.thick.value = Math.max(1, (ratio * height) / 1080);
    // The view of the free part, widened to the whole window.
    const across = Math.max(0.2 * width, width - free.left - free.right);
    const down = Math.max(0.2 * height, height - free.top - free.bottom);
    this.camera.aspect = across / down;
    this.camera.setViewOffset(across, down, -free.left, -free.top, width, height);
    this.camera.updateProjectionMatrix();
    this.request();
  }

  /** Where a point of the recording is in the window, in CSS pixels. */
  project(p: Vector3): { x: number; y: number; depth: number } {
    const q = p.clone().applyMatrix4(this.root.matrixWorld).project(this.camera);
    return {
      x: ((q.x + 1) / 2) * this.canvas.clientWidth,
      y: ((1 - q.y) / 2) * this.canvas.clientHeight,
      depth: q.z,
    };
  }

  request(): void {
    this.wanted = true;
  }

  /** Draws if something has changed. */
  render(): boolean {
    if (!this.wanted) return false;
    this.wanted = false;
    this.renderer.render(this.scene, this.camera);
    return true;
  }
}
