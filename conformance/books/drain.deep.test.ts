import '../support/deep.ts';
import './drain.test.ts';
