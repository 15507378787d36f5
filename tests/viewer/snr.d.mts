// Types of snr.mjs, as far as the tests in TypeScript need them.
export function writeHeader(header: any): Buffer;
export function writeMesh(which: number, vertices: number[], triangles: number[]): Buffer;
export function writeFrame(frame: any): Buffer;
export function writeSoft(which: number, vertices: number[]): Buffer;
export function writeNote(note: any): Buffer;
export function writeEnd(frames: number, time: number, how: number): Buffer;
export function read(bytes: Uint8Array): { header: any; frames: any[] };
export function softSample(options?: { n?: number; frames?: number }): Buffer;
export function sample(options?: { frames?: number; every?: number; up?: string }): Buffer;
