// Channels that share an axis: the same quantity of different bodies, and the energies.

const WHAT: Record<string, string> = {
  q: "joint coordinate",
  qd: "joint rate",
  qdd: "joint acceleration",
  tau: "joint force",
  pos: "position",
  vel: "velocity",
  tension: "tension",
  length: "length",
};

/** The name of the plot to which a channel belongs. */
export function plotOf(channel: string): string {
  const dot = channel.indexOf(".");
  if (dot < 0) return "energy and totals";
  const quantity = channel.slice(dot + 1);
  const word = /^[a-z]+/i.exec(quantity)?.[0] ?? quantity;
  const component = /\.([a-z]+)$/i.exec(quantity)?.[1];
  return (WHAT[word] ?? word) + (component ? ` ${component}` : "");
}

/** What a person who has chosen nothing wants to see first: the energies. */
export function firstChoice(channels: readonly string[]): number[] {
  const energies = ["E", "T", "V"].map((name) => channels.indexOf(name)).filter((k) => k > 0);
  return energies.length > 0 ? energies : channels.length > 1 ? [1] : [];
}

/** Channels whose name has every word of `filter` in it; not the time. */
export function matching(channels: readonly string[], filter: string): number[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const list: number[] = [];
  channels.forEach((name, k) => {
    const lower = name.toLowerCase();
    if (k > 0 && words.every((word) => lower.includes(word))) list.push(k);
  });
  return list;
}
