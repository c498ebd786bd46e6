// Where the page starts.
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./tables.css";
import { App } from "./app.tsx";

const place = document.getElementById("page");
if (place !== null) {
  place.textContent = "";
  render(<App />, place);
}
