import assert from "node:assert/strict";
import { test } from "node:test";
import { plainScript } from "../../../src/alphanpi/reporting/page/own_input.mjs";

test("a module becomes a plain script without the part for node", () => {
  const module = "// Head.\n\nexport function f() {\n  return 'export const';\n}\n\nexport class A {}\n\n// Run as `node FILE ARGUMENTS`.\nawait import.meta;\n";
  const script = plainScript(module);
  assert.equal(script, "\"use strict\";\n// Head.\n\nfunction f() {\n  return 'export const';\n}\n\nclass A {}\n");
  assert.equal(new Function(`${script}; return f();`)(), "export const");
});
