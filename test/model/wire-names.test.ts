import { WireNames } from '../../src/model/wire-names';

test('every tool has a name that the API takes, its own, and is found by it', () => {
  const tools = [
    'pay',
    'files.read',
    'files_read',
    'files-read',
    'files/read',
    '__proto__',
    'constructor',
    'é',
    'ü',
    'x'.repeat(64),
    'x'.repeat(256),
    `${'x'.repeat(255)}y`,
    'a b',
  ];
  const names = new WireNames(tools);
  const wire = tools.map((tool) => names.wireName(tool));
  expect(new Set(wire).size).toBe(tools.length);
  for (const name of wire) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(wire.map((name) => names.toolOf(name))).toEqual(tools);
  expect(names.wireName('files_read')).toBe('files_read');
  expect(new WireNames(tools).wireName('files.read')).toBe(names.wireName('files.read'));
});

test('what is not offered has no tool, also under the name of something that every object has', () => {
  const names = new WireNames(['pay']);
  for (const name of ['', 'PAY', 'constructor', '__proto__', 'toString'])
    expect(names.toolOf(name)).toBeUndefined();
});
