export interface Ranked {
  index: number;
  weight: number;
}

/** The `count` largest numbers, largest first, equal ones by index; NaN is left out. */
export function largest(line: ArrayLike<number>, count: number): Ranked[] {
  const found: Ranked[] = [];
  for (let index = 0; index < line.length; ++index) {
    const weight = line[index] as number;
    if (Number.isNaN(weight)) continue;
    if (found.length === count && weight <= (found[count - 1] as Ranked).weight) continue;
    let at = found.length;
    while (at > 0 && (found[at - 1] as Ranked).weight < weight) --at;
    found.splice(at, 0, { index, weight });
    if (found.length > count) found.pop();
  }
  return found;
}

/** 1 for the largest, and of how many. */
export function rankOf(line: ArrayLike<number>, index: number): [number, number] {
  const own = line[index] as number;
  let rank = 1;
  let count = 0;
  for (let i = 0; i < line.length; ++i) {
    const weight = line[i] as number;
    if (Number.isNaN(weight)) continue;
    ++count;
    if (weight > own || (weight === own && i < index)) ++rank;
  }
  return [rank, count];
}
