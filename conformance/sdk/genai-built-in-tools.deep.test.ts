import '../support/deep.ts';
import './genai-built-in-tools.test.ts';
