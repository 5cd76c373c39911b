// Renders the chart as Helm does: Go's templates with the functions of sprig and those that Helm adds. Helm itself is in
// no package of the distribution; its engine is these two parts and the functions below.
//
//	go run main.go <folder of the chart> <release> <namespace> [file with values]
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(path string) map[string]interface{} {
	values := map[string]interface{}{}
	text, err := os.ReadFile(path)
	check(err)
	check(yaml.Unmarshal(text, &values))
	return values
}

// Merge writes the members of a file with values over those of the chart, as Helm does: objects are merged, null removes.
func merge(into, from map[string]interface{}) {
	for name, value := range from {
		inner, isObject := value.(map[string]interface{})
		known, wasObject := into[name].(map[string]interface{})
		if value == nil {
			delete(into, name)
		} else if isObject && wasObject {
			merge(known, inner)
		} else {
			into[name] = value
		}
	}
}

func toYaml(value interface{}) string {
	text, err := yaml.Marshal(value)
	check(err)
	return strings.TrimSuffix(string(text), "\n")
}

func main() {
	chart, release, namespace := os.Args[1], os.Args[2], os.Args[3]
	values := readYaml(filepath.Join(chart, "values.yaml"))
	if len(os.Args) > 4 {
		merge(values, readYaml(os.Args[4]))
	}
	about := readYaml(filepath.Join(chart, "Chart.yaml"))
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": map[string]interface{}{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false},
	}

	// Like Helm: an absent value of a map is an error nowhere, and prints nothing.
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = toYaml
	functions["toJson"] = func(value interface{}) string {
		text, err := json.Marshal(value)
		check(err)
		return string(text)
	}
	functions["include"] = func(name string, with interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, with)
		return text.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", message)
		}
		return value, nil
	}
	all.Funcs(functions)

	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	sort.Strings(paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		_, err = all.New(filepath.Base(path)).Parse(string(text))
		check(err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") || strings.HasSuffix(name, ".txt") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, name, data))
		rendered := strings.ReplaceAll(text.String(), "<no value>", "")
		if strings.TrimSpace(rendered) != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, strings.Trim(rendered, "\n"))
		}
	}
}
