export { default as GoTo } from './GoTo.svelte';
export { default as Help } from './Help.svelte';
export { default as Palette } from './Palette.svelte';
