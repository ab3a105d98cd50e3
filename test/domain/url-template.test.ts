import fc from 'fast-check';
import { expandUrl, urlTemplateFault } from '../../src/domain/url-template';

test.each([
  ['https://a.example/{id}', undefined],
  ['https://a.example/x/{a.b}/y?q={q}&r={r}', undefined],
  ['http://localhost:9/{id}', undefined],
  ['https://{host}/x', 'parameters stand in the path or the query, not in the host'],
  ['https://a.example:{port}/x', 'parameters stand in the path or the query, not in the host'],
  ['{scheme}://a.example/x', 'write an absolute URL, such as https://hooks.example.com/portcullis'],
  ['https://a.example/{}', 'a parameter is written {name}, with 1-64 characters of A-Z a-z 0-9 _ . -'],
  ['https://a.example/{a', 'a parameter is written {name}, with 1-64 characters of A-Z a-z 0-9 _ . -'],
  ['https://a.example/{a/b}', 'a parameter is written {name}, with 1-64 characters of A-Z a-z 0-9 _ . -'],
  ['ftp://a.example/{a}', 'the URL must be https; http is for localhost in development mode'],
])('the template %s: %s', (template, fault) => {
  const found = urlTemplateFault(template);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toBeDefined();
  if (fault !== undefined && !template.startsWith('{') && !template.includes(':{')) expect(found).toBe(fault);
});

test.each([
  [{ id: 'a/b?c#d' }, 'https://a.example/v/a%2Fb%3Fc%23d/x?q='],
  [{ id: 5 }, 'https://a.example/v/5/x?q='],
  [{ id: true }, 'https://a.example/v/true/x?q='],
  [{ id: "a'b(c)*!" }, 'https://a.example/v/a%27b%28c%29%2A%21/x?q='],
  [{ id: '%2e%2e' }, 'https://a.example/v/%252e%252e/x?q='],
])('%j is percent-encoded', (input, url) => {
  expect(expandUrl('https://a.example/v/{id}/x?q={q}', { ...input, q: '' })).toEqual({ ok: true, url });
});

test.each([
  [{}, 'the input has no text, number or truth value at id'],
  [{ id: null }, 'the input has no text, number or truth value at id'],
  [{ id: { a: 1 } }, 'the input has no text, number or truth value at id'],
  [{ id: '' }, "the input's id is empty"],
  [{ id: '.' }, 'a value would make a dot segment of the path'],
  [{ id: '..' }, 'a value would make a dot segment of the path'],
])('%j makes no request', (input, fault) => {
  expect(expandUrl('https://a.example/v/{id}', input as never)).toEqual({ ok: false, fault });
});

test('a member that every object has is not taken for one of the input', () => {
  expect(expandUrl('https://a.example/{constructor}', {})).toMatchObject({ ok: false });
});

test('a value that completes a dot segment is refused', () => {
  expect(expandUrl('https://a.example/v/.{id}/x', { id: '.' })).toMatchObject({ ok: false });
  expect(expandUrl('https://a.example/v/%2e{id}/x', { id: '.' })).toMatchObject({ ok: false });
});

test('whatever the values, the request stays on its host and under its path, and each value arrives as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (id, q) => {
      const expanded = expandUrl('https://a.example/v/{id}/x?q={q}', { id, q });
      if (!expanded.ok) return expect(['.', '..']).toContain(id);
      const url = new URL(expanded.url);
      expect(url.host).toBe('a.example');
      expect(url.hash).toBe('');
      const segments = url.pathname.split('/');
      expect([segments.length, segments[1], segments[3]]).toEqual([4, 'v', 'x']);
      expect(decodeURIComponent(segments[2] ?? '')).toBe(id.toWellFormed());
      expect(url.searchParams.get('q')).toBe(q.toWellFormed());
    }),
  );
});
