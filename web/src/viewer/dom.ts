type Attributes = Record<string, string | number | boolean>;

/** A new element. Text becomes text nodes, so that nothing of a run is ever read as markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** A name of a token: any script, whatever stands around it. */
export function name(text: string, className = ''): HTMLElement {
  return make('bdi', { dir: 'auto', class: className }, text);
}

export function button(label: string, title: string, action: () => void): HTMLButtonElement {
  const element = make('button', { type: 'button', title }, label);
  element.addEventListener('click', action);
  return element;
}

export function select(label: string, action: (value: string) => void): HTMLSelectElement {
  const element = make('select', { 'aria-label': label });
  element.addEventListener('change', () => action(element.value));
  return element;
}

/** Fills a select anew only where its choices changed. */
export function setChoices(element: HTMLSelectElement, choices: [string, string][], value: string): void {
  const key = JSON.stringify(choices);
  if (element.dataset['choices'] !== key) {
    element.dataset['choices'] = key;
    element.replaceChildren(...choices.map(([id, text]) => make('option', { value: id }, text)));
  }
  element.value = value;
}

/** A canvas of so many pixels and what draws into it. */
export function canvas(className: string): { element: HTMLCanvasElement; context: CanvasRenderingContext2D } {
  const element = make('canvas', { class: className, 'aria-hidden': 'true' });
  const context = element.getContext('2d', { willReadFrequently: true });
  if (!context) throw new Error('this browser cannot draw on a canvas');
  return { element, context };
}
