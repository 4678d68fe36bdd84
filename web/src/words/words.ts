/** The words of the chosen language. */
import { en, type Words } from './en';

const LANGUAGES: Record<string, Words> = { en };
const wanted = globalThis.navigator?.languages ?? [];
export const language = wanted.map((each) => each.split('-')[0] as string).find((each) => each in LANGUAGES) ?? 'en';
export const words: Words = LANGUAGES[language] ?? en;

/** The text with what stands in braces filled in. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
