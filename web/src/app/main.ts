import '../design/tokens.css';
import '../design/base.css';
import '../design/shell.css';
import '../design/text.css';
import '../design/map.css';
import '../design/home.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { Model } from './model.svelte';

const model = new Model();
const target = document.getElementById('app') as HTMLElement;
target.replaceChildren();
mount(App, { target, props: { model } });
void model.start();

/** For tests, notebooks and the console: the same commands that keys run. */
Object.assign(globalThis, {
  fovea: { run: (id: string, argument?: string) => model.commands.run(id, argument), place: () => model.place, model },
});
